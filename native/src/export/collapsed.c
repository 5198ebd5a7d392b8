/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - a line per stack: "group;root;...;leaf weight".
 *
 * Each frame's text is made once and then copied into every line it is in; it ends in the ';' or
 * ' ' that follows it, so a line is nothing but copies:
 *
 *   texts:  a.B.run(B.java:1);c.D.run(D.java:2);      a frame's text: texts[starts[n]..starts[n+1])
 */
#include "base/bytes.h"
#include "export/export_writers.h"
#include "export/used_frames.h"
#include "model/escape.h"

enum { MAX_TEXTS_BYTES = 1 << 30 /* of all frames together */ };

struct writer {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct smp_bytes texts;
    size_t *starts; /* by frame number; one more for the end */
    struct smp_bytes group;
    struct smp_tree_walk walk;
};

/* The one byte that parts frames must not stand in one. */
static void replace_separators(struct smp_bytes *bytes, size_t from)
{
    for (size_t i = from; i < bytes->length; i++) {
        if (bytes->data[i] == ';')
            bytes->data[i] = ',';
    }
}

static enum smp_status make_texts(struct writer *writer)
{
    const struct smp_used_frames *const frames = &writer->frames;
    struct smp_bytes *const texts = &writer->texts;

    writer->starts =
        smp_alloc(writer->job->quota, ((size_t)frames->count + 1) * sizeof(*writer->starts));
    if (writer->starts == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 0; i < frames->count; i++) {
        const size_t start = texts->length;
        smp_methods_frame_text(writer->job->profile->methods, frames->locations[i], texts);
        if (texts->status != SMP_OK)
            return texts->status;
        replace_separators(texts, start);
        smp_bytes_put(texts, ";", 1);
        writer->starts[i] = start;
    }
    writer->starts[frames->count] = texts->length;
    return texts->status;
}

static enum smp_status make_group(struct writer *writer, const char *name)
{
    smp_bytes_clear(&writer->group);
    smp_escape_put(&writer->group, name);
    if (writer->group.status != SMP_OK)
        return writer->group.status;
    replace_separators(&writer->group, 0);
    smp_bytes_put(&writer->group, ";", 1);
    return writer->group.status;
}

static void put_line(struct writer *writer, uint64_t weight)
{
    const struct smp_tree_walk *const walk = &writer->walk;
    const char *const texts = smp_bytes_text(&writer->texts);
    struct smp_writer *const out = writer->job->out;

    smp_writer_put(out, smp_bytes_text(&writer->group), writer->group.length);
    for (size_t i = 0; i < walk->depth; i++) {
        const uint32_t frame =
            smp_used_frames_number(&writer->frames, walk->nodes[walk->path[i]].location);
        const size_t start = writer->starts[frame];
        const bool is_last = i + 1 == walk->depth;
        smp_writer_put(out, texts + start, writer->starts[frame + 1] - start - is_last);
    }
    smp_writer_put_byte(out, ' ');
    smp_writer_put_u64(out, weight);
    smp_writer_put_byte(out, '\n');
}

static void put_group(struct writer *writer, uint32_t root)
{
    smp_tree_walk_begin(&writer->walk, root);
    while (!writer->job->out->has_failed && smp_tree_walk_next(&writer->walk)) {
        const struct smp_walk_self self = smp_tree_walk_self(&writer->walk);
        const uint64_t weight = smp_export_weight(writer->job->style, &self);
        if (weight != 0)
            put_line(writer, weight);
    }
}

static enum smp_status put_groups(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;

    for (size_t i = 0; i < job->groups->count; i++) {
        const enum smp_status status = make_group(writer, smp_export_group_name(job, i));
        if (status != SMP_OK)
            return status;
        put_group(writer, smp_export_group(job, i)->root);
        if (writer->walk.status != SMP_OK)
            return writer->walk.status;
    }
    return SMP_OK;
}

enum smp_status smp_export_collapsed(const struct smp_export_job *job)
{
    struct writer writer = { .job = job };
    enum smp_status status = smp_used_frames_init(&writer.frames, job->quota, job->profile);

    if (status != SMP_OK)
        return status;
    smp_bytes_init(&writer.texts, job->quota, MAX_TEXTS_BYTES);
    smp_bytes_init(&writer.group, job->quota, MAX_TEXTS_BYTES);
    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    status = make_texts(&writer);
    if (status == SMP_OK)
        status = put_groups(&writer);
    smp_tree_walk_fini(&writer.walk);
    smp_bytes_fini(&writer.group);
    smp_bytes_fini(&writer.texts);
    smp_free(job->quota, writer.starts);
    smp_used_frames_fini(&writer.frames);
    return status;
}
