import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { componentOf } from '../answer-shapes.ts';
import { jsonSchema, type PartSchema } from '../door-schemas.ts';

/** Of a request as it is sent, or of an answer as it goes out. */
type Direction = 'input' | 'output';

/** Shapes as JSON Schema. What has a name stands among the components, and is referred to wherever it is met. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, JsonObject>();

  /** A shape in place, or a reference to it. */
  of(shape: z.ZodType, io: Direction): JsonObject {
    return this.#referred(shape, io) ?? this.#inPlace(shape, io);
  }

  /** A reference to a shape that gets its name here. */
  named(name: string, shape: z.ZodType, io: Direction): JsonObject {
    if (!this.#schemas.has(name)) {
      // Also stops at a shape that is part of itself.
      this.#schemas.set(name, {});
      this.#schemas.set(name, this.#inPlace(shape, io));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** All that have been referred to, by name. */
  all(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #inPlace(shape: z.ZodType, io: Direction): JsonObject {
    return jsonSchema(shape, io, (part, made) => {
      const reference = part === shape ? undefined : this.#referred(part, io);
      if (reference) referTo(made, reference);
      // It says no more than that a member may be left out, and generators take one with a default for always there.
      if (made.default === null) delete made.default;
    });
  }

  #referred(shape: z.core.$ZodType, io: Direction): JsonObject | undefined {
    const component = componentOf(shape);
    return component && this.named(component.name, component.shape, io);
  }
}

/** What is said of it in this place stays beside the reference. */
function referTo(made: PartSchema, reference: JsonObject): void {
  for (const name of Object.keys(made)) if (name !== 'description') delete made[name];
  Object.assign(made, reference);
}
