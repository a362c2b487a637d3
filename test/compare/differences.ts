import { isJsonObject, type Json } from '../../schema/canonical-json.ts';

const SHOWN_MAX = 12;
const CHARS_MAX = 160;

/** Where two values differ, each by the path of its member; a renamed member is one that is gone and one that is new. */
export function differencesOf(one: Json | undefined, other: Json | undefined): readonly string[] {
  const found = [...differences(one, other, [])];
  const more = found.length - SHOWN_MAX;
  return more > 0 ? [...found.slice(0, SHOWN_MAX), `and in ${more} members more`] : found;
}

function* differences(one: Json | undefined, other: Json | undefined, path: readonly string[]): Generator<string> {
  if (Array.isArray(one) && Array.isArray(other)) yield* membersDiffer(byIndex(one), byIndex(other), path);
  else if (isJsonObject(one) && isJsonObject(other)) {
    yield* membersDiffer(one, other, path);
    // The order of members is a part of what goes over the wire.
    const [names, others] = [Object.keys(one).join(), Object.keys(other).join()];
    if (names !== others && sorted(one) === sorted(other)) yield `${nameOf(path)}: members in another order`;
  } else if (one !== other) yield `${nameOf(path)}: ${shortened(one)} -> ${shortened(other)}`;
}

type Members = Readonly<Record<string, Json | undefined>>;

function* membersDiffer(one: Members, other: Members, path: readonly string[]): Generator<string> {
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    yield* differences(one[name], other[name], [...path, name]);
}

const byIndex = (list: readonly Json[]): Members => Object.fromEntries(list.map((one, index) => [String(index), one]));
const nameOf = (path: readonly string[]): string => path.join('.') || 'all of it';
const sorted = (members: object): string => Object.keys(members).sort().join();

function shortened(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length <= CHARS_MAX ? text : `${text.slice(0, CHARS_MAX)}…`;
}
