import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { componentOf } from '../answer-shapes.ts';
import { jsonSchema, type PartSchema } from '../door-schemas.ts';

/** Input: a request as it is sent. Output: a response as it is received. */
type Direction = 'input' | 'output';

/** Shapes as JSON Schema. A named shape becomes a component, and every use of it a reference. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, JsonObject>();

  /** The schema of a shape, or a reference to it. */
  of(shape: z.ZodType, io: Direction): JsonObject {
    return this.#referred(shape, io) ?? this.#inPlace(shape, io);
  }

  /** A reference to a shape, which is registered under this name. */
  named(name: string, shape: z.ZodType, io: Direction): JsonObject {
    if (!this.#schemas.has(name)) {
      // The empty entry ends the recursion at a shape that is part of itself.
      this.#schemas.set(name, {});
      this.#schemas.set(name, this.#inPlace(shape, io));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** All referenced shapes, by name. */
  all(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #inPlace(shape: z.ZodType, io: Direction): JsonObject {
    return jsonSchema(shape, io, (part, made) => {
      const reference = part === shape ? undefined : this.#referred(part, io);
      if (reference) referTo(made, reference);
      // `null` only states that the member may be left out, and generators treat a member with a default as always present.
      if (made.default === null) delete made.default;
    });
  }

  #referred(shape: z.core.$ZodType, io: Direction): JsonObject | undefined {
    const component = componentOf(shape);
    return component && this.named(component.name, component.shape, io);
  }
}

/** The description of this use stays beside the reference. */
function referTo(made: PartSchema, reference: JsonObject): void {
  for (const name of Object.keys(made)) if (name !== 'description') delete made[name];
  Object.assign(made, reference);
}
