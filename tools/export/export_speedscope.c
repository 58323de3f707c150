// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_speedscope.c
 * @brief	Stacks as JSON of speedscope, in order of time.
 *
 * Source: https://www.speedscope.app/file-format-schema.json. Samples and weights of a profile are
 * two arrays, so it walks the intervals of a vCPU twice. The frames come last, when it knows all.
 */
#include "export_stacks.h"
#include "json_writer.h"
#include "key_map.h"

struct speedscope {
	const struct export_job	*job;
	struct json		json;
	struct key_map		frames;		/* by export_frame_key() */
	int64_t			sum_ns;		/* of the profile */
};

static int put_sample(void *arg, const struct export_stack *stack)
{
	struct speedscope *to = arg;

	json_open(&to->json, NULL, '[', true);
	for (int i = 0; i < stack->n; i++) {
		int64_t frame = key_map_add(&to->frames, export_frame_key(&stack->frames[i]));

		if (frame < 0)
			return (int)frame;
		json_i64(&to->json, NULL, frame);
	}
	json_close(&to->json, ']');
	return 0;
}

static int put_weight(void *arg, const struct export_stack *stack)
{
	struct speedscope *to = arg;

	json_i64(&to->json, NULL, stack->ns);
	to->sum_ns += stack->ns;
	return 0;
}

static int put_profile(struct speedscope *to, int32_t vcpu, bool all_states)
{
	const struct virt_vcpu *info = virt_model_vcpu(to->job->report->load->model, vcpu);
	int ret;

	to->sum_ns = 0;
	json_open(&to->json, NULL, '{', false);
	json_str(&to->json, "type", "sampled");
	json_str(&to->json, "name", info->name);
	json_str(&to->json, "unit", "nanoseconds");
	json_open(&to->json, "samples", '[', true);
	ret = export_stacks(to->job, vcpu, all_states, put_sample, to);
	if (ret)
		return ret;
	json_close(&to->json, ']');
	json_open(&to->json, "weights", '[', true);
	export_stacks(to->job, vcpu, all_states, put_weight, to);
	json_close(&to->json, ']');
	json_i64(&to->json, "startValue", 0);
	json_i64(&to->json, "endValue", to->sum_ns);
	json_close(&to->json, '}');
	return 0;
}

static void put_shared(struct speedscope *to)
{
	char text[64];

	json_open(&to->json, "shared", '{', false);
	json_open(&to->json, "frames", '[', false);
	for (uint32_t i = 0; i < to->frames.n_keys; i++) {
		const struct export_frame frame = {
			.kind = (enum export_frame_kind)(to->frames.keys[i] >> 32),
			.id = (int32_t)(uint32_t)to->frames.keys[i],
		};

		json_open(&to->json, NULL, '{', true);
		json_str(&to->json, "name", export_frame_name(to->job, &frame, text,
							      sizeof(text)));
		json_close(&to->json, '}');
	}
	json_close(&to->json, ']');
	json_close(&to->json, '}');
}

int export_speedscope(const struct export_job *job, bool all_states, struct output *out)
{
	struct speedscope to = { .job = job };
	int32_t n = virt_model_n_vcpus(job->report->load->model);
	int ret = 0;

	json_begin(&to.json, out);
	json_open(&to.json, NULL, '{', false);
	json_str(&to.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&to.json, "exporter", "kshark-virt");
	json_str(&to.json, "name", job->report->file);
	json_open(&to.json, "profiles", '[', false);
	for (int32_t i = 0; i < n && !ret && !out->error; i++)
		if (export_wants_vcpu(job, i))
			ret = put_profile(&to, i, all_states);
	/* after an error, the output is thrown away */
	if (!ret) {
		json_close(&to.json, ']');
		put_shared(&to);
		json_document_end(&to.json);
	}
	key_map_destroy(&to.frames);
	return ret;
}
