import { z } from 'zod';

/** A shape that OpenAPI describes once, under its name. */
interface Component {
  readonly name: string;
  readonly shape: z.ZodType;
}

const components = new WeakMap<z.core.$ZodType, Component>();
const taken = new Set<string>();

/**
 * Names shapes, which OpenAPI then refers to wherever they are part of an answer.
 * @throws Error where a name is taken: OpenAPI would describe one of the two as the other.
 */
export function nameComponents(shapes: Readonly<Record<string, z.ZodType>>): void {
  for (const [name, shape] of Object.entries(shapes)) {
    if (taken.has(name)) throw new Error(`two shapes are called ${name}`);
    taken.add(name);
    components.set(shape, { name, shape });
  }
}

/** The named shape that this one is, though described in words of its own; undefined where it has no name. */
export function componentOf(shape: z.core.$ZodType): Component | undefined {
  for (let one: z.core.$ZodType | undefined = shape; one; one = one._zod.parent) {
    const component = components.get(one);
    if (component) return component;
  }
  return undefined;
}

/** A document whose members its own schema identifier describes. */
export const JsonMembers = z.record(z.string(), z.unknown());

export const Atomic = z
  .string()
  .regex(/^[0-9]+$/)
  .describe('Atomic USDC.');

/** RFC 9457, and beside it the `error` that OpenAI clients read. Facts of the error stand as further members. */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  error: z.object({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() }),
});

/** x402 version 1; version 2 says the same in the PAYMENT-REQUIRED header. */
export const PaymentRequired = z.looseObject({
  x402Version: z.literal(1),
  error: z.string(),
  code: z
    .string()
    .optional()
    .describe('Why what came along did not do: `payment_rejected`, `unknown_api_key` and the like.'),
  accepts: z.array(JsonMembers),
});

nameComponents({ Problem, Challenge: PaymentRequired });
