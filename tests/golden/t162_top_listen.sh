# SPDX-License-Identifier: LGPL-2.1-or-later
# top --listen: Prometheus fetches the counters that a file would have, in the format that it asks for, and no
# connection delays another one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/top_lib.sh"

TRACE=$SAMPLES/credit2-basic.xen
HZ=$(known_hz "$TRACE")

# mistakes
run top --listen 0 "$TRACE"
status 2
says "$ERR" '--listen requires live input: a pipe, --follow, a recording under way, or this host'
for more in "--format csv" "-o $WORK/out" --once; do
	# shellcheck disable=SC2086
	run top --listen 0 $more -
	status 2
	says "$ERR" '--listen serves counters: leave out --format, --output and --once'
done
run top --listen 0 -
if grep -q 'this build has no --listen\|needs libmicrohttpd' "$ERR"; then
	cat "$ERR"
	exit 77
fi
for bad in x 65536 127.0.0.1: :80 ::1:80 '[::1:80' '1.2.3.4:5:6' -5; do
	run top --listen="$bad" -
	status 3
	says "$ERR" "--listen $bad: give PORT or ADDRESS:PORT, for example 9435 or [::1]:9435"
done
run top --listen 192.0.2.1:0 -
status 3
says "$ERR" '--listen 192.0.2.1:0: Cannot assign requested address'

mkfifo "$WORK/pipe"
"$KSV_BIN" top --listen 0 --interval 500ms --hold 200ms --cpu-hz "$HZ" "$WORK/pipe" 2> "$WORK/said" > "$WORK/printed" &
top=$!
exec 5> "$WORK/pipe"
cat > "$WORK/fetch.py" << 'END'
"""Fetch counters while top runs. usage: fetch.py SAID PIPE-FD TRACE KSV_BIN HZ"""
import http.client, re, socket, subprocess, sys, time

said, pipe, trace, command, hz = sys.argv[1:]


def wait_for(what, condition):
    for _ in range(600):
        got = condition()
        if got:
            return got
        time.sleep(0.1)
    sys.exit("no " + what)


address = wait_for("address", lambda: re.search(r"http://127\.0\.0\.1:(\d+)/metrics has the counters of",
                                                open(said).read()))
port = int(address[1])


def ask(url="/metrics", method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, url, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def numbers(text):
    """Without percentiles, which are of the last interval, and notes, which name the input."""
    return sorted(line for line in text.splitlines() if not re.match("#|kshark_virt_wake_p99|kshark_virt_warning", line))


def seconds(text):
    """How long one vCPU has been seen."""
    return sum(float(line.split()[-1]) for line in text.splitlines()
               if re.match(r'kshark_virt_state_seconds_total\{.*vcpu="d0v0"', line))


# before the first record, the answer has no numbers
answer, text = ask()
assert answer.status == 200 and not numbers(text) and "# TYPE kshark_virt_exits_total counter" in text, text
# a connection without a request does not delay others
silent = socket.create_connection(("127.0.0.1", port))
data = open(trace, "rb").read()
fetched = []
with open(int(pipe), "wb", buffering=0, closefd=False) as out:
    for at in range(0, len(data), 100000):
        out.write(data[at:at + 100000])
        fetched.append(ask()[1])
fetched.append(wait_for("counters", lambda: (lambda text: seconds(text) > 1.9 and text)(ask()[1])))
assert [seconds(text) for text in fetched] == sorted(seconds(text) for text in fetched)
last, compared = 0, 0
for text in fetched:
    length = seconds(text)
    if length == last:
        continue
    last = length
    assert abs(length / 0.5 - round(length / 0.5)) < 1e-6, length
    own = subprocess.run([command, "top", "-q", "-f", "prometheus", "--once", "--interval",
                          "%dms" % round(1000 * length), "--cpu-hz", hz, trace], capture_output=True, text=True, check=True)
    assert numbers(text) == numbers(own.stdout), length
    compared += 1
assert compared, fetched[-1]
# formats
answer, text = ask()
assert answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8" and "# EOF" not in text
answer, text = ask(Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
assert answer.getheader("Content-Type") == "application/openmetrics-text; version=1.0.0; charset=utf-8"
assert text.endswith("# EOF\n")
answer, text = ask(method="HEAD")
assert answer.status == 200 and not text and int(answer.getheader("Content-Length")) > 1000
# what is not there
assert ask("/")[0].status == 200
assert ask("/metrics/../../etc/passwd")[0].status == 404 and ask("/metricsx")[0].status == 404
answer, _ = ask(method="POST", body="x" * 300000)
assert answer.status == 405 and answer.getheader("Allow") == "GET, HEAD"
# hostile ones: half of a request, no request at all, more connections than there may be
others = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
for i, other in enumerate(others):
    other.sendall([b"", b"GET /metr", b"\0\xff\n\n", b"GET " + b"a" * 60000][i % 4])
assert ask()[0].status == 200
for other in others + [silent]:
    other.close()
print("%d fetched, %d compared" % (len(fetched), compared))
print(port)
END
check "counters over HTTP" python3 "$WORK/fetch.py" "$WORK/said" 5 "$TRACE" "$KSV_BIN" "$HZ" > "$WORK/port"
port=$(tail -n 1 "$WORK/port")
run top --listen "127.0.0.1:$port" -
status 3
says "$ERR" "--listen 127.0.0.1:$port: Address already in use"
exec 5>&-
wait "$top"
STATUS=$?
status 0
check "nothing is printed" test ! -s "$WORK/printed"
check "the port is closed" python3 -c '
import socket, sys
sys.exit(not socket.socket().connect_ex(("127.0.0.1", int(sys.argv[1]))))' "$port"
finish
