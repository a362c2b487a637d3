import { isJsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';

/** Numbers, flags, and objects of these, by the names that a hub gives them. Null is what it does not count. */
export type UsageDetails = { readonly [name: string]: number | boolean | null | UsageDetails };

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * What a hub counts beside the three numbers that all of them give: the details of prompt and completion, tokens of its cache, its cost.
 * What is neither a number, a flag, null nor an object of these is left out, as texts and lists are, and so is what exceeds the bounds, or is not counted at all.
 */
export function usageDetails(given: Readonly<Record<string, unknown>>): UsageDetails {
  const counted = Object.entries(given).filter(([name, value]) => value !== null && isOfItsKind(name, value));
  return countsIn(Object.fromEntries(counted), limits.usage_details_depth_max);
}

/** Clients read the members of what is called details. */
function isOfItsKind(name: string, value: unknown): boolean {
  return !name.endsWith('_details') || isJsonObject(value);
}

function countsIn(given: Readonly<Record<string, unknown>>, depth_left: number): UsageDetails {
  const counts = Object.entries(given).flatMap(([name, value]) => {
    const kept = NAME.test(name) ? countOf(value, depth_left) : undefined;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(counts.slice(0, limits.usage_details_max));
}

function countOf(value: unknown, depth_left: number): UsageDetails[string] | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return isJsonObject(value) && depth_left > 1 ? countsIn(value, depth_left - 1) : undefined;
}
