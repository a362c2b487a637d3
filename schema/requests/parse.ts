import * as z from 'zod';
import { Refusal } from '../errors.ts';

/* Parses a body into its canonical form, or says which member is wrong. */

/**
 * A list of `items_min` to `items_max` items. A longer list is refused as a whole, because reporting errors for half a million items would
 * block the event loop for seconds.
 */
export function listOf<S extends z.ZodType>(item: S, items_max: number, items_min = 1) {
  const bounded = z.array(item).min(items_min).max(items_max);
  return z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= items_max) return value;
    context.addIssue({ code: 'custom', message: `has more than ${items_max} items` });
    return z.NEVER;
  }, bounded);
}

/**
 * Parses the arguments that a payment is bound to. `called`: noun for an unknown member in the error. `spelled`: spelling of a member's
 * name in the request.
 * @throws Refusal invalid_request, whose `param` names the first invalid member
 */
export function parseRequest<S extends z.ZodType>(
  schema: S,
  value: unknown,
  called = 'member',
  spelled = (member: string) => member,
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const fault = issue && innermost(issue, called);
  const [first, ...rest] = fault?.path ?? [];
  const param = first === undefined ? '' : [spelled(String(first)), ...rest].join('.');
  throw new Refusal('invalid_request', {
    detail: param ? `${param}: ${fault?.message}` : (fault?.message ?? 'The request is not valid.'),
    ...(param ? { param } : {}),
  });
}

/** For a union, the error of the variant that was parsed furthest. */
function innermost(issue: z.core.$ZodIssue, called: string): Pick<z.core.$ZodIssue, 'path' | 'message'> {
  // zod reports an unknown member at its object; the error is about the member itself.
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0)
    return { path: issue.keys.slice(0, 1), message: `this endpoint has no ${called} of this name.` };
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap(([first]) => (first ? innermost(first, called) : []));
  const furthest = inner.reduce<(typeof inner)[number] | null>(
    (best, next) => (next.path.length > (best?.path.length ?? 0) ? next : best),
    null,
  );
  return furthest ? { ...furthest, path: [...issue.path, ...furthest.path] } : issue;
}

/** Parses the body of an endpoint of this process and remembers it as valid: see `validBodyOf`. @throws as `parseRequest` */
export function parseBody<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const body = parseRequest(schema, value);
  keepMaker(body, schema);
  return body;
}

/** The schema that produced each valid body. */
const madeBy = new WeakMap<object, z.ZodType>();

/** The schema that produced a body. Null if no schema did. */
export function makerOf(body: object): z.ZodType | null {
  return madeBy.get(body) ?? null;
}

/** Remembers the first schema that produced the request: the schema by which its resolver validates. */
export function keepMaker(value: unknown, schema: z.ZodType): void {
  if (typeof value === 'object' && value !== null && !madeBy.has(value)) madeBy.set(value, schema);
}

/**
 * The same object, if this schema produced it in this process: it need not be validated again. Bytes from outside cannot be such an object,
 * so /graphql and a subgraph that is served alone always validate.
 */
export function validBodyOf<S extends z.ZodType>(schema: S, body: object | undefined): z.output<S> | null {
  return body && madeBy.get(body) === schema ? (body as z.output<S>) : null;
}
