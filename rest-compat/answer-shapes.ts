import { z } from 'zod';
import { limits } from '../schema/limits.ts';
import { AtomicMember } from '../schema/noun.ts';

/** A shape that OpenAPI describes once, by name. */
interface Component {
  readonly name: string;
  readonly shape: z.ZodType;
}

const components = new WeakMap<z.core.$ZodType, Component>();
const taken = new Set<string>();

/**
 * Names shapes. OpenAPI refers to them wherever they are part of a response.
 * @throws Error if a name is taken, because OpenAPI would describe one of the two as the other.
 */
export function nameComponents(shapes: Readonly<Record<string, z.ZodType>>): void {
  for (const [name, shape] of Object.entries(shapes)) {
    if (taken.has(name)) throw new Error(`two shapes are called ${name}`);
    taken.add(name);
    components.set(shape, { name, shape });
  }
}

/** The named shape that this one is a described copy of. Undefined if it has no name. */
export function componentOf(shape: z.core.$ZodType): Component | undefined {
  for (let one: z.core.$ZodType | undefined = shape; one; one = one._zod.parent) {
    const component = components.get(one);
    if (component) return component;
  }
  return undefined;
}

/** A document whose members its own schema identifier describes. */
export const JsonMembers = z.record(z.string(), z.unknown());

export const Atomic = AtomicMember;

/** Members of an error that are the same in every form of it. */
export const FAULTY_MEMBER =
  'Path of the wrong member of the request, such as `messages.0.content`. Null if no single member is wrong.';

/** RFC 9457, with the `error` that OpenAI clients read. Facts of the error are further members. */
export const Problem = z.looseObject({
  type: z.string().describe('URI of the kind of error: `urn:svc402:problem:<code>`.'),
  title: z.string().describe('Sentence about this kind of error, the same for every error with this code.'),
  status: z.int().describe('HTTP status of the response.'),
  detail: z.string().describe('Sentence about this error: what is wrong, and what to do.'),
  code: z.string().describe('Stable code of the error, such as `invalid_request`, for programs.'),
  charged: z
    .boolean()
    .nullable()
    .optional()
    .describe(
      'Whether the payment sent with this request has been charged. Null: not known yet; send the same payment again and do not sign another. Absent: this error says nothing about it.',
    ),
  attempts: z
    .array(
      z.object({
        hub: z.string().describe('Name of the hub (model provider) that was asked.'),
        reason: z.string().describe('Reason that this attempt failed, as a code such as `timeout` or `status_500`.'),
      }),
    )
    .optional()
    .describe(
      'Attempts to get an answer from hubs, in the order in which they were made. Absent if the error does not come from hubs.',
    ),
  retry_after_seconds: z
    .number()
    .min(0)
    .optional()
    .describe(
      'Seconds to wait before the request is sent again. Absent if the error names no time; the header Retry-After may still have one.',
    ),
  hub_status: z
    .int()
    .optional()
    .describe(
      'HTTP status with which the router refused the key in X-Router-Key or its account. Absent from all other errors.',
    ),
  error: z
    .object({
      message: z.string().describe('The same sentence as `detail`.'),
      type: z.string().describe('Category of the error, such as `invalid_request_error`.'),
      code: z
        .string()
        .describe('Code of the error: the same as the top-level `code`, unless a hub refused the request.'),
      param: z.string().nullable().describe(FAULTY_MEMBER),
    })
    .describe(
      "The same error in the form that OpenAI's clients read. If a hub refused the request, `code`, `type` and `param` are those of the hub as far as it states them, and the top-level `code` is that of this service.",
    ),
});

/** The offer of x402 version 1. Version 2 is in the PAYMENT-REQUIRED header. */
export const PaymentRequired = z.looseObject({
  x402Version: z.literal(1),
  error: z
    .string()
    .describe('Sentence that says why a payment is required, or why the one that was sent is not accepted.'),
  code: z
    .string()
    .optional()
    .describe(
      'Why the payment or key that was sent was not accepted, as a code such as `payment_rejected`; `payment_required` if the offer is for the second payment of a job. Absent otherwise.',
    ),
  accepts: z.array(JsonMembers).describe('Payment requirements (x402), one for each network that is accepted.'),
});

nameComponents({ Problem, Challenge: PaymentRequired });

export const BrokenBookNames = z
  .object({
    count: z.int().min(0).describe('Number of books that have lost events.'),
    agent_ids: z
      .array(z.int())
      .describe(
        `Ids of the first ${limits.broken_books_named_max} of the books that have lost events, in ascending order.`,
      ),
    credentials: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Number of recently committed book sessions and revocations that are known to be lost. Absent if none is.',
      ),
  })
  .describe('Books that have lost committed events, and the number of lost credentials. Absent if nothing is lost.');
