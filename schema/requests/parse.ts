import { z } from 'zod';
import { Refusal } from '../errors.ts';

/** Text that has a canonical form: RFC 8785 3.2.2.2 refuses half of a surrogate pair. */
export const wellFormedText = z
  .string()
  .refine(text => text.isWellFormed(), { error: 'holds half of a surrogate pair' });

/** Text that is written to a column of its own: Postgres holds no U+0000, and would fail only when money is claimed. */
export const storedText = wellFormedText.refine(text => !text.includes('\0'), { error: 'holds U+0000' });

/**
 * `items_min` to so many items, one unless told. A longer list is refused as a whole: each of its items would be given a fault of its own, and
 * half a million of them hold up everybody else for seconds.
 */
export function listOf<S extends z.ZodType>(item: S, items_max: number, items_min = 1) {
  const bounded = z.array(item).min(items_min).max(items_max);
  return z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= items_max) return value;
    context.addIssue({ code: 'custom', message: `holds more than ${items_max} items` });
    return z.NEVER;
  }, bounded);
}

/** The coerced arguments that a payment is bound to; unknown members are gone. `param` names the first fault. */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const fault = issue && innermost(issue);
  const param = fault?.path.join('.') ?? '';
  throw new Refusal('invalid_request', {
    detail: param ? `${param}: ${fault?.message}` : (fault?.message ?? 'The request is not valid.'),
    ...(param ? { param } : {}),
  });
}

/** Of what can be said in several ways the fault lies where one of them was followed furthest. */
function innermost(issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, 'path' | 'message'> {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap(([first]) => (first ? innermost(first) : []));
  const furthest = inner.reduce<(typeof inner)[number] | null>(
    (best, next) => (next.path.length > (best?.path.length ?? 0) ? next : best),
    null,
  );
  return furthest ? { ...furthest, path: [...issue.path, ...furthest.path] } : issue;
}
