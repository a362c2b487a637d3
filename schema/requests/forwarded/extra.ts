import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../canonical-json.ts';
import { jsonFault } from '../../json-value.ts';
import { limits } from '../../limits.ts';

/*
 * Members of a request that neither this service nor its table of exceptions knows: a hub may know them, so they are passed on as
 * they came, and the payment is bound to them like to all else. Beside what an object has itself they may also stand in its `extra`,
 * which is the only way on the graph.
 */

/** What becomes of a member that its object does not have. */
export type MemberRule =
  | { readonly kind: 'forwarded' }
  /** It changes nothing about the answer, and nobody is told of it. */
  | { readonly kind: 'without_effect' }
  | { readonly kind: 'refused'; readonly why: string };

/** A member as it was sent. */
export interface GivenMember {
  readonly name: string;
  /** The name as `folded` has it, which costs more than a look at a table. */
  readonly spelt: string;
  readonly value: Json;
}

/** An object in which such members may stand. */
export interface OpenPlace {
  readonly known: ReadonlySet<string>;
  rule(member: GivenMember): MemberRule;
}

export const FORWARDED: MemberRule = { kind: 'forwarded' };

/** How members that this service does not know are treated. */
const FORWARDED_MEMBERS =
  'Members that this service does not know, passed on to the hub unchanged. A member that chooses who answers, who is charged or in whose name is refused with 400, and so is a member that no hub of the model accepts.';

/** Object of members that this service does not know, for the graph, whose inputs have a fixed list of members. */
export const Extra = z
  .custom<JsonObject>(isJsonObject, { error: 'must be an object' })
  .meta({ type: 'object', scalar: 'JSONObject' })
  .nullish()
  .describe(`${FORWARDED_MEMBERS} By REST they may also stand beside \`extra\`.`);

/** Names that are the same to a reader that does not look at case, or at `-` and `_`: some of those that hubs are made with do not. */
export function folded(name: string): string {
  // Nearly every name: a tenth of the time.
  if (ASCII.test(name)) return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const ASCII = /^[!-~]*$/;

type Report = Pick<z.core.$RefinementCtx, 'addIssue'>;

/**
 * The members of an object that it does not have itself; null is the same as nothing. Where one cannot be passed on an issue names it.
 * @returns null where there are none
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

/** Asked before a name is folded: NFKC can make a name eighteen times as long. */
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
  const rule = place.rule({ name, spelt: folded(name), value });
  if (rule.kind === 'without_effect') return WITHOUT_EFFECT;
  if (rule.kind === 'refused') return rule.why;
  return jsonFault(name, BOUNDS) ?? jsonFault(value, BOUNDS);
}

/** As many members as a body may have: what is longer was refused before it was parsed. */
const BOUNDS = { depth_max: limits.forwarded_depth_max, members_max: limits.json_members_max };

/**
 * An object that is passed on as it came, in OpenAI's own spelling: its known members, checked, and whatever stands beside them.
 * `known` are those of `given` by whatever they were checked to be.
 */
export function inlined(
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

/** The members of an object that it does not have itself. */
export function besideKnown(object: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !known.has(name)));
}

/** The path of an own member `__proto__`, at whatever depth; null where there is none. Recursion ends: a body is so deep at most. */
export function protoIn(value: unknown): readonly PropertyKey[] | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const [name, member] of Object.entries(value)) {
    const found = protoIn(member);
    if (found) return [Array.isArray(value) ? Number(name) : name, ...found];
  }
  return null;
}

/** Refuses what no door takes: harmless as a member of its own, and not worth the trust that no hub ever assigns it. */
export function withoutProto(value: unknown, report: Report): unknown {
  const path = protoIn(value);
  if (path === null) return value;
  report.addIssue({ code: 'custom', path: [...path], message: 'is not allowed as the name of a member' });
  return z.NEVER;
}
