import { z } from 'zod';
import { Refusal } from '../errors.ts';

/** Text that has a canonical form: RFC 8785 3.2.2.2 refuses half of a surrogate pair. */
export const wellFormedText = z
  .string()
  .refine(text => text.isWellFormed(), { error: 'holds half of a surrogate pair' });

/** The coerced arguments that a payment is bound to; unknown members are gone. `param` names the first fault. */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fault = parsed.error.issues[0];
  const param = fault?.path.join('.') ?? '';
  throw new Refusal('invalid_request', {
    detail: param ? `${param}: ${fault?.message}` : (fault?.message ?? 'The request is not valid.'),
    ...(param ? { param } : {}),
  });
}
