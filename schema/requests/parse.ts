import * as z from 'zod';
import { Refusal } from '../errors.ts';

/* Parses a body into its canonical form, or says which member is wrong. */

/**
 * `items_min` to so many items, one unless told. A longer list is refused as a whole: each of its items would be given a fault of its own, and
 * half a million of them hold up everybody else for seconds.
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
 * The coerced arguments that a payment is bound to. `called`: what a refusal calls a member that is not known. `spelled`: the name of a
 * member as its sender spells it. @throws Refusal invalid_request, whose `param` names the first fault
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

/** Of what can be said in several ways the fault lies where one of them was followed furthest. */
function innermost(issue: z.core.$ZodIssue, called: string): Pick<z.core.$ZodIssue, 'path' | 'message'> {
  // A member that a strict request does not know is told at the request: the fault is the member's own.
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

/** A body of an endpoint of this process, remembered as valid: see `validBodyOf`. @throws as `parseRequest` */
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
 * The same object, if it is what this schema has made of a request in this process: it need not be validated again. Nobody who sends
 * bytes can send one, so /graphql and a subgraph served alone always validate.
 */
export function validBodyOf<S extends z.ZodType>(schema: S, body: object | undefined): z.output<S> | null {
  return body && madeBy.get(body) === schema ? (body as z.output<S>) : null;
}
