// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_colors.c
 * @brief	Colours that mean different things in one strip are distinct, also for people
 *		with colour-blindness.
 *
 * Distances are those of OKLab (B. Ottosson, 2020), in which 0.02 or so is just noticed; what
 * a person without red or green cones sees is by Machado, Oliveira and Fernandes (2009).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "virt_colors.h"

/* of two exit reasons, or one and a state: for all, and for people with colour-blindness */
#define LEAST		0.15
#define LEAST_BLIND	0.075
/* of two states, which have shapes and places of their own as well */
#define LEAST_STATES	0.11
/* of two states for people with colour-blindness, as CIE 1976 measures it */
#define LEAST_DELTA_E	15
/* of labels: WCAG 2, level AA */
#define LEAST_CONTRAST	4.5

struct color {
	double	v[3];
};

static const double no_change[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const double no_green[3][3] = {
	{ 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 },
	{ -0.011820, 0.042940, 0.968881 },
};
static const double no_red[3][3] = {
	{ 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 },
	{ -0.003882, -0.048116, 1.051998 },
};

static struct color times(const double matrix[3][3], struct color color)
{
	struct color result = { { 0 } };

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			result.v[i] += matrix[i][j] * color.v[j];
	return result;
}

static double linear(uint8_t value)
{
	double part = value / 255.0;

	return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

static struct color oklab(struct virt_color rgb, const double seen[3][3])
{
	static const double cones[3][3] = {
		{ 0.4122214708, 0.5363325363, 0.0514459929 },
		{ 0.2119034982, 0.6806995451, 0.1073969566 },
		{ 0.0883024619, 0.2817188376, 0.6299787005 },
	};
	static const double lab[3][3] = {
		{ 0.2104542553, 0.7936177850, -0.0040720468 },
		{ 1.9779984951, -2.4285922050, 0.4505937099 },
		{ 0.0259040371, 0.7827717662, -0.8086757660 },
	};
	struct color color = { { linear(rgb.red), linear(rgb.green), linear(rgb.blue) } };

	color = times(seen, color);
	for (int i = 0; i < 3; i++)
		color.v[i] = color.v[i] < 0 ? 0 : color.v[i] > 1 ? 1 : color.v[i];
	color = times(cones, color);
	for (int i = 0; i < 3; i++)
		color.v[i] = cbrt(color.v[i]);
	return times(lab, color);
}

static double distance(struct virt_color a, struct virt_color b, const double seen[3][3])
{
	struct color x = oklab(a, seen), y = oklab(b, seen);

	return sqrt(pow(x.v[0] - y.v[0], 2) + pow(x.v[1] - y.v[1], 2) + pow(x.v[2] - y.v[2], 2));
}

static void check(struct virt_color a, struct virt_color b, const char *what, const char *other)
{
	if (distance(a, b, no_change) < LEAST || distance(a, b, no_green) < LEAST_BLIND ||
	    distance(a, b, no_red) < LEAST_BLIND)
		fail_msg("%s and %s: %.3f, without green %.3f, without red %.3f", what, other,
			 distance(a, b, no_change), distance(a, b, no_green),
			 distance(a, b, no_red));
}

/** What is known of the measure: black and white are 1 apart, and greys are for all the same. */
static void test_measure(void **state)
{
	const struct virt_color black = { 0, 0, 0 }, white = { 255, 255, 255 };
	const struct virt_color red = { 200, 60, 60 }, green = { 110, 110, 40 };

	(void)state;
	assert_true(fabs(distance(black, white, no_change) - 1) < 1e-3);
	assert_true(fabs(distance(black, white, no_green) - 1) < 1e-2);
	assert_true(fabs(distance(black, white, no_red) - 1) < 1e-2);
	/* but a red and a green of the same lightness are not */
	assert_true(distance(red, green, no_green) < distance(red, green, no_change) / 1.5);
}

static void test_exits(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
		const char *name = virt_exit_class_name((enum virt_exit_class)i);
		struct virt_color color = virt_exit_class_color((enum virt_exit_class)i);

		for (int j = 0; j < i; j++)
			check(color, virt_exit_class_color((enum virt_exit_class)j), name,
			      virt_exit_class_name((enum virt_exit_class)j));
		/* the hypervisor's own is that of the others */
		for (int j = 0; j < VIRT_N_STATES; j++)
			if (j != VIRT_HYPERVISOR)
				check(color, virt_state_look((enum virt_state)j)->color, name,
				      virt_state_name((enum virt_state)j));
	}
	assert_true(distance(virt_state_look(VIRT_HYPERVISOR)->color,
			     virt_exit_class_color(VIRT_EXIT_OTHER), no_change) < 1e-9);
}

/** CIE 1976 L*a*b* of the white point D65 */
static struct color cielab(struct virt_color rgb, const double seen[3][3])
{
	static const double xyz[3][3] = {
		{ 0.4124564, 0.3575761, 0.1804375 },
		{ 0.2126729, 0.7151522, 0.0721750 },
		{ 0.0193339, 0.1191920, 0.9503041 },
	};
	static const double white[3] = { 0.95047, 1, 1.08883 };
	struct color color = { { linear(rgb.red), linear(rgb.green), linear(rgb.blue) } };

	color = times(seen, color);
	for (int i = 0; i < 3; i++)
		color.v[i] = color.v[i] < 0 ? 0 : color.v[i] > 1 ? 1 : color.v[i];
	color = times(xyz, color);
	for (int i = 0; i < 3; i++) {
		double part = color.v[i] / white[i];

		color.v[i] = part > 216.0 / 24389 ? cbrt(part) : (24389.0 / 27 * part + 16) / 116;
	}
	return (struct color){ { 116 * color.v[1] - 16, 500 * (color.v[0] - color.v[1]),
				 200 * (color.v[1] - color.v[2]) } };
}

static double delta_e(struct virt_color a, struct virt_color b, const double seen[3][3])
{
	struct color x = cielab(a, seen), y = cielab(b, seen);

	return sqrt(pow(x.v[0] - y.v[0], 2) + pow(x.v[1] - y.v[1], 2) + pow(x.v[2] - y.v[2], 2));
}

static void test_states(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_UNKNOWN; i++)
		for (int j = 0; j < i; j++) {
			struct virt_color a = virt_state_look((enum virt_state)i)->color;
			struct virt_color b = virt_state_look((enum virt_state)j)->color;

			assert_true(distance(a, b, no_change) >= LEAST_STATES);
			assert_true(delta_e(a, b, no_green) >= LEAST_DELTA_E);
			assert_true(delta_e(a, b, no_red) >= LEAST_DELTA_E);
		}
}

/** Of black or white text, as WCAG 2 defines it. */
static void check_contrast(struct virt_color color, const char *what)
{
	double light = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) +
		       0.0722 * linear(color.blue);
	double contrast = virt_color_text_is_dark(color) ? (light + 0.05) / 0.05 :
							   1.05 / (light + 0.05);

	if (contrast < LEAST_CONTRAST)
		fail_msg("text on %s has a contrast of %.2f", what, contrast);
}

static void test_labels(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_N_STATES; i++)
		check_contrast(virt_state_look((enum virt_state)i)->color,
			       virt_state_name((enum virt_state)i));
	for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++)
		check_contrast(virt_exit_class_color((enum virt_exit_class)i),
			       virt_exit_class_name((enum virt_exit_class)i));
	for (int i = -1; i < 12; i++)
		check_contrast(virt_vcpu_color(i), "a vCPU's colour");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
