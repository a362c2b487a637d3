import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../canonical-json.ts';
import { jsonFault } from '../../json-value.ts';
import { limits } from '../../limits.ts';

/*
 * Members of a request that neither this service nor its table of exceptions knows. A hub may know them, so they are passed on unchanged
 * and the payment is bound to them. They may be beside the known members or in `extra`, which is the only way on the graph.
 */

/** How a member is treated that its object does not define. */
export type MemberRule =
  | { readonly kind: 'forwarded' }
  /** The member does not change the answer and is not passed on. */
  | { readonly kind: 'without_effect' }
  | { readonly kind: 'refused'; readonly why: string };

/** A member as it was sent. */
export interface GivenMember {
  readonly name: string;
  /** The name as returned by `foldName`. Stored because folding costs more than a table look-up. */
  readonly folded_name: string;
  readonly value: Json;
}

/** An object that may have such members. */
export interface OpenPlace {
  readonly known: ReadonlySet<string>;
  rule(member: GivenMember): MemberRule;
}

export const FORWARDED: MemberRule = { kind: 'forwarded' };

/** How members that this service does not know are treated. */
const FORWARDED_MEMBERS =
  'Members that this service does not know, passed on to the hub unchanged. Refused with 400: members that no hub of the model accepts, and those about what this service decides (hub, key, charge, retries) or does not offer, such as stored threads. Members that identify the caller have no effect.';

/** Object of members that this service does not know, for the graph, whose inputs have a fixed list of members. */
export const Extra = z
  .custom<JsonObject>(isJsonObject, { error: 'must be an object' })
  .meta({ type: 'object', scalar: 'JSONObject' })
  .nullish()
  .describe(`${FORWARDED_MEMBERS} Except on the graph, they may also stand beside \`extra\`.`);

/** Folds names that are equal without regard to case, `-` and `_`, because some of the libraries that hubs use ignore these. */
export function foldName(name: string): string {
  // The fast path for nearly every name; it takes a tenth of the time.
  if (ASCII.test(name)) return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const ASCII = /^[!-~]*$/;

type Report = Pick<z.core.$RefinementCtx, 'addIssue'>;

/**
 * The members of an object that it does not define. Null is the same as absent. A member that cannot be passed on is reported as an issue.
 * @returns null if there are none
 */
export function extraOf(
  given: JsonObject,
  place: OpenPlace,
  report: Report,
  at: readonly PropertyKey[] = [],
): JsonObject | null {
  const { extra = null } = given;
  if (extra !== null && !isJsonObject(extra)) {
    report.addIssue({ code: 'custom', path: [...at, 'extra'], message: 'must be an object' });
    return null;
  }
  const beside = Object.entries(given).filter(([name]) => name !== 'extra' && !place.known.has(name));
  const inside = Object.entries(extra ?? {});
  if (beside.length + inside.length > limits.forwarded_members_max) {
    report.addIssue({ code: 'custom', path: [...at], message: TOO_MANY });
    return null;
  }
  const found = new Map<string, Json>();
  for (const [within, members] of [
    [at, beside],
    [[...at, 'extra'], inside],
  ] as const) {
    for (const [name, value] of members) {
      if (value === null || value === undefined) continue;
      const fault =
        faultOf(name, value, place) ?? (found.has(name) ? 'is given twice: in `extra` and beside it' : null);
      if (fault === null) found.set(name, value);
      else if (fault !== WITHOUT_EFFECT)
        report.addIssue({
          code: 'custom',
          path: [...within, name.slice(0, limits.forwarded_name_chars_max)],
          message: fault,
        });
    }
  }
  return found.size === 0 ? null : Object.fromEntries(found);
}

/** Checked before a name is folded, because NFKC can make a name eighteen times as long. */
function isOverlong(name: string): boolean {
  const max = limits.forwarded_name_chars_max;
  return name.length > max || (!ASCII.test(name) && name.normalize('NFKC').length > max);
}

const TOO_LONG = `has a name of more than ${limits.forwarded_name_chars_max} characters`;
const TOO_MANY = `has more than ${limits.forwarded_members_max} members that this service does not know`;
const WITHOUT_EFFECT = Symbol('without effect');

function faultOf(name: string, value: Json, place: OpenPlace): string | typeof WITHOUT_EFFECT | null {
  if (place.known.has(name)) return 'is a known member: move it out of `extra`';
  if (isOverlong(name)) return TOO_LONG;
  const rule = place.rule({ name, folded_name: foldName(name), value });
  if (rule.kind === 'without_effect') return WITHOUT_EFFECT;
  if (rule.kind === 'refused') return rule.why;
  return jsonFault(name, BOUNDS) ?? jsonFault(value, BOUNDS);
}

/** The number of members that a body may have. A longer body was refused before it was parsed. */
const BOUNDS = { depth_max: limits.forwarded_depth_max, members_max: limits.json_members_max };

/** An object that is passed on as OpenAI spells it: its known members as they were parsed, and the unknown members of `given`. */
export function inlineExtra(
  given: JsonObject,
  place: OpenPlace,
  report: Report,
  at: readonly PropertyKey[] = [],
): JsonObject {
  const extra = extraOf(given, place, report, at) ?? {};
  const known = Object.entries(given).filter(
    ([name, value]) => place.known.has(name) && value !== null && value !== undefined,
  );
  return { ...Object.fromEntries(known), ...extra };
}

/** The members of an object that it does not define. */
export function membersExcept(object: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !known.has(name)));
}

/** The path of an own member `__proto__` at any depth. Null if there is none. The depth of a body is limited, so the recursion ends. */
export function protoIn(value: unknown): readonly PropertyKey[] | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const [name, member] of Object.entries(value)) {
    const found = protoIn(member);
    if (found) return [Array.isArray(value) ? Number(name) : name, ...found];
  }
  return null;
}

/** Refuses `__proto__` everywhere. It is harmless as a member of its own, but a hub might assign it. */
export function withoutProto(value: unknown, report: Report): unknown {
  const path = protoIn(value);
  if (path === null) return value;
  report.addIssue({ code: 'custom', path: [...path], message: 'is not allowed as the name of a member' });
  return z.NEVER;
}
