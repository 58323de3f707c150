# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where C sources can be changed by one operator or constant, and sources with such changes in them.

clang prints the syntax tree. A site is an expression inside of a function; where the language wants a
constant, at case labels, sizes and what is initialised statically, nothing can be decided at run time,
and so nothing is changed. Nor is what macros make: only a constant's name as a whole.
"""
import collections
import json
import re
import subprocess

# What an operator may become. Each has its opposite, and bounds are moved by one.
BINARY = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",),
    "&": ("|",), "|": ("&",), "^": ("&",), "<<": (">>",), ">>": ("<<",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "%=": ("/=",),
    "&=": ("|=",), "|=": ("&=",), "^=": ("&=",), "<<=": (">>=",), ">>=": ("<<=",),
}
UNARY = {"!": "!!", "~": "", "-": "", "++": "--", "--": "++"}
# Constants from here on are halved or doubled: one more or less of many is no other program.
MANY = 16
# Operands that are not evaluated, or must be constant.
CLOSED = {"ConstantExpr", "UnaryExprOrTypeTraitExpr", "OffsetOfExpr", "EnumDecl", "RecordDecl",
          "StaticAssertDecl", "DesignatedInitExpr"}
NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
# An error becomes success: another number is no other behaviour.
ERROR = re.compile(r"-E[A-Z0-9]+")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)

# begin, end: of the expression, in bytes; within: its line; new: what it may become, shown and in C
Site = collections.namedtuple("Site", "file function line begin end within old new")


def syntax_tree(path, flags):
    """The parsed file, whose places know their files: clang names a file once, when it changes."""
    dump = subprocess.run(["clang", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", *flags, path],
                          stdout=subprocess.PIPE, check=True).stdout
    tree = json.loads(dump)
    file = ""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed([child for child in node if isinstance(child, dict)]))
            continue
        if "offset" in node:
            file = node.get("file", file)
            node["file"] = file
        stack.extend(reversed([child for key, child in node.items()
                               if isinstance(child, (dict, list)) and key != "includedFrom"]))
    return tree


class Finder:
    """Collects the sites of one file."""

    def __init__(self, name, path, flags):
        self.name = name
        with open(path, "rb") as source:
            self.text = source.read()
        self.path = path
        self.sites = []
        self.thresholds, self.either = set(), set()
        self.function = ""
        for node in syntax_tree(path, flags).get("inner", []):
            self.top(node)

    def top(self, node):
        if node["kind"] == "VarDecl" and "const struct" in node["type"]["qualType"]:
            self.thresholds.add(node["id"])
        place = node.get("range", {}).get("begin", {})
        if node["kind"] == "FunctionDecl" and place.get("file") == self.path:
            self.function = node["name"]
            for child in node.get("inner", []):
                if child["kind"] == "CompoundStmt":
                    self.walk(child)

    def after_call(self, end):
        """The end of a macro's arguments, if these follow."""
        match = re.compile(rb"\s*\(").match(self.text, end)
        depth = 0
        for i in range(match.end() - 1 if match else len(self.text), len(self.text)):
            depth += {b"(": 1, b")": -1}.get(self.text[i:i + 1], 0)
            if not depth:
                return i + 1
        return end

    def extent(self, node):
        """(begin, end, whether it is of a macro alone) in the file's own text, or None"""
        begin, end = node["range"]["begin"], node["range"]["end"]
        macro = "expansionLoc" in begin and "expansionLoc" in end
        last_of_macro = "expansionLoc" in end
        begin, end = begin.get("expansionLoc", begin), end.get("expansionLoc", end)
        if begin.get("file") != self.path or end.get("file") != self.path:
            return None
        stop = end["offset"] + end["tokLen"]
        alone = macro and begin["offset"] == end["offset"]
        if last_of_macro:
            stop = self.after_call(stop)
        return begin["offset"], stop, alone

    def cut(self, begin, end):
        return self.text[begin:end].decode()

    def add(self, begin, end, old, new):
        line = self.text.count(b"\n", 0, begin) + 1
        within = self.text.split(b"\n", line)[line - 1].strip().decode()
        new = tuple(n if isinstance(n, tuple) else (n, n) for n in new)
        self.sites.append(Site(self.name, self.function, line, begin, end, within, old, new))

    def walk(self, node):
        kind = node.get("kind")
        if not kind or kind in CLOSED:
            return
        if kind == "VarDecl" and node.get("storageClass") == "static":
            return
        if node.get("castKind") == "NullToPointer":
            return
        if self.constant(node) or self.threshold(node):
            return
        self.find_either(node)
        if kind in ("BinaryOperator", "CompoundAssignOperator"):
            self.binary(node)
        elif kind == "UnaryOperator":
            self.unary(node)
        for child in node.get("inner", []):
            self.walk(child)

    def texts(self, node):
        """A comparison's or assignment's operands, or None"""
        while node["kind"] in ("ParenExpr", "ImplicitCastExpr") or node.get("opcode") == "&&":
            node = node["inner"][-1]
        if node["kind"] != "BinaryOperator" or node["opcode"] not in ("<", ">", "="):
            return None, None
        extents = [self.extent(child) for child in node["inner"]]
        return node, all(extents) and {self.cut(*extent[:2]) for extent in extents}

    def find_either(self, node):
        """Comparisons where it is all the same what equals do: if (a < b) b = a, (a > b) - (a < b)"""
        inner = node.get("inner", [])
        if node["kind"] != "IfStmt" and node.get("opcode") != "-" or len(inner) != 2:
            return
        (first, one), (second, other) = map(self.texts, inner)
        if one and one == other and (second["opcode"] == "=") == (node["kind"] == "IfStmt") and \
                first["opcode"] != "=":
            self.either |= {first["id"], second["id"]}

    def binary(self, node):
        whole, left, right = (self.extent(n) for n in [node, *node["inner"]])
        choices = BINARY.get(node["opcode"])
        if node["id"] in self.either and choices:
            choices = choices[1:]
        if not choices or not whole or whole[2] or not left or not right:
            return
        between = self.cut(left[1], right[0])
        if COMMENT.sub("", between).strip() != node["opcode"]:
            return
        types = [child["type"].get("desugaredQualType", child["type"]["qualType"])
                 for child in node["inner"]]
        pointers = any("*" in t or "[" in t for t in types)
        if pointers and (node["opcode"] not in ("==", "!=", "&&", "||") and
                         "*" in types[0] and "*" in types[1] or node["opcode"] == "+" and
                         "*" not in types[0]):
            return
        if {"double", "float"} & set(types):
            choices = [c for c in choices if c not in ("&", "|", "%")]
        before, after = self.cut(whole[0], left[1]), self.cut(right[0], whole[1])
        new = [(before + between.replace(node["opcode"], c) + after,
                "(%s) %s (%s)" % (before, c, after)) for c in choices]
        self.add(whole[0], whole[1], before + between + after, new)

    def unary(self, node):
        whole, operand = self.extent(node), self.extent(node["inner"][0])
        if node["opcode"] not in UNARY or not whole or whole[2] or not operand:
            return
        text = self.cut(whole[0], whole[1])
        if node["inner"][0]["kind"] == "IntegerLiteral" or node["opcode"] not in text:
            return
        if node.get("isPostfix"):
            new = text[:text.rindex(node["opcode"])] + UNARY[node["opcode"]]
        else:
            new = text.replace(node["opcode"], UNARY[node["opcode"]], 1)
        if new != text:
            self.add(whole[0], whole[1], text, [new])

    def literal(self, node):
        """The number that a node is, behind parentheses, casts and signs; None: it is none"""
        while node["kind"] in ("ParenExpr", "ImplicitCastExpr", "CStyleCastExpr") or \
                node["kind"] == "UnaryOperator" and node["opcode"] == "-":
            node = node["inner"][0]
        if node["kind"] in ("IntegerLiteral", "CharacterLiteral"):
            return int(node["value"])
        if node["kind"] == "FloatingLiteral":
            return MANY
        if node["kind"] == "DeclRefExpr" and node["referencedDecl"]["kind"] == "EnumConstantDecl":
            return 1
        return None

    def constant(self, node):
        if node["kind"] in ("ParenExpr", "ImplicitCastExpr", "CStyleCastExpr"):
            extent = self.extent(node)
            if not extent or not extent[2] or "*" in node["type"]["qualType"]:
                return False
        value, extent = self.literal(node), self.extent(node)
        if value is None or not extent:
            return False
        text = self.cut(extent[0], extent[1])
        if "(" in text or not re.fullmatch(r"[\w.'\\+-]+", text):
            return bool(extent[2])
        if text in ("true", "false"):
            new = ["true" if text == "false" else "false"]
        elif ERROR.fullmatch(text):
            new = ["0"]
        elif "MAX" in text or "MIN" in text:
            new = ["%s / 2" % text]
        elif value < MANY:
            new = ["%s + 1" % text] + (["%s - 1" % text] if value else [])
        else:
            new = ["%s * 2" % text, "%s / 2" % text]
        self.add(extent[0], extent[1], text, new)
        return True

    def threshold(self, node):
        """A member of a table of constants."""
        if node["kind"] != "MemberExpr" or node.get("isArrow"):
            return False
        base = node["inner"][0]
        extent = self.extent(node)
        kind = node["type"]["qualType"]
        if base["kind"] != "DeclRefExpr" or base["referencedDecl"]["id"] not in self.thresholds or \
                not extent or "*" in kind or "[" in kind:
            return False
        text = self.cut(extent[0], extent[1])
        self.add(extent[0], extent[1], text, ["%s * 2" % text, "%s / 2" % text])
        return True


def find(name, path, flags):
    """Return: the sites of a file, in order, each once"""
    return sorted(set(Finder(name, path, flags).sites))


def rewrite(text, mutants, header):
    """text with each mutant in it; the one whose number KSV_MUTANT says takes the original's place."""
    def render(begin, end, inside):
        out, at = [], begin
        while inside:
            number, site, new = inside[0]
            nested = [m for m in inside[1:] if m[1].end <= site.end]
            out.append(text[at:site.begin])
            out.append(b"(KSV_IS(%d) ? (%s) : (%s))"
                       % (number, one_line(new), render(site.begin, site.end, nested)))
            at = site.end
            inside = inside[1 + len(nested):]
        out.append(text[at:end])
        return b"".join(out)

    order = sorted(mutants, key=lambda m: (m[1].begin, -m[1].end))
    return header + b"#line 1\n" + render(0, len(text), order)


def one_line(text):
    return COMMENT.sub(" ", text).replace("\n", " ").encode()
