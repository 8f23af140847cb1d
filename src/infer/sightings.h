/* SPDX-License-Identifier: MIT
 * Which tensors of the file have names that a line of the outline can make. */
#ifndef SP_INFER_SIGHTINGS_H
#define SP_INFER_SIGHTINGS_H

#include "infer/shapes.h"
#include "solve/lines.h"

struct sp_sighting {
    const struct sp_line *line;
    size_t *named; /* the tensors (in the shapes' `named`), by the numbers in their names */
    size_t count;
    bool indexed;   /* its shape or its provisos depend on the index of a loop */
    bool is_rival;  /* the tensors are, or may be, those of another line */
    size_t unknown; /* the number of its name that is not known yet, or SIZE_MAX */
};

/* When two lines make the same names, as layers for other purposes behind the last layer do: */
enum sp_rivalry {
    SP_RIVALS_ALL,      /* neither has the tensors */
    SP_RIVALS_OPTIONAL, /* the one that is not optional has them */
    SP_RIVALS_LATER     /* the first one has them, as long as it is not known better */
};

struct sp_sightings {
    struct sp_outline *outline;
    const struct sp_shapes *shapes;
    struct sp_sighting *of; /* parallel to the outline's lines */
    size_t *owners;         /* for each tensor in `named` the line that has it, or SP_NONE */
    bool first_owns;        /* of rivals */
    size_t seen;            /* tensors that have an owner */
};

void sp_sightings_init(struct sp_sightings *sights, struct sp_outline *outline, const struct sp_shapes *shapes);
void sp_sightings_free(struct sp_sightings *sights);
/* The tensors once more, after something was learnt. */
void sp_sightings_renew(struct sp_sightings *sights, enum sp_rivalry rivalry);

/* The turn of a loop around the line that a tensor (in `named`) stands for; -1 when its name does not tell. */
int64_t sp_sighting_turn(const struct sp_sightings *sights, const struct sp_sighting *sighting,
                         const struct sp_loop *loop, size_t named);
/* Gives all loops around the line the turn that the tensor stands for. */
void sp_sighting_enter(const struct sp_sightings *sights, const struct sp_sighting *sighting, size_t named);
/* Whether the tensors are those of the line. */
bool sp_sighting_is_owner(const struct sp_sightings *sights, size_t line);
const struct sp_tensor *sp_sighting_tensor(const struct sp_sightings *sights, size_t named);

#endif
