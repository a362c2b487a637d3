import { isJsonObject, type Json } from '../../schema/canonical-json.ts';

const SHOWN_MAX = 12;
const CHARS_MAX = 160;
const CHARS_BEFORE = 40;

/** Differences between two values, each with the path of its member. A renamed member is one that is missing and one that is new. */
export function differencesOf(one: Json | undefined, other: Json | undefined): readonly string[] {
  const found = [...differences(one, other, [])];
  const more = found.length - SHOWN_MAX;
  return more > 0 ? [...found.slice(0, SHOWN_MAX), `and in ${more} members more`] : found;
}

function* differences(one: Json | undefined, other: Json | undefined, path: readonly string[]): Generator<string> {
  if (Array.isArray(one) && Array.isArray(other)) yield* membersDiffer(byIndex(one), byIndex(other), path);
  else if (isJsonObject(one) && isJsonObject(other)) {
    yield* membersDiffer(one, other, path);
    // The order of members is compared too, because it is part of what is sent.
    const [names, others] = [Object.keys(one).join(), Object.keys(other).join()];
    if (names !== others && sorted(one) === sorted(other)) yield `${nameOf(path)}: members in another order`;
  } else if (one !== other) yield `${nameOf(path)}: ${shownBeside(one, other)} -> ${shownBeside(other, one)}`;
}

type Members = Readonly<Record<string, Json | undefined>>;

function* membersDiffer(one: Members, other: Members, path: readonly string[]): Generator<string> {
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    yield* differences(one[name], other[name], [...path, name]);
}

const byIndex = (list: readonly Json[]): Members => Object.fromEntries(list.map((one, index) => [String(index), one]));
const nameOf = (path: readonly string[]): string => path.join('.') || 'all of it';
const sorted = (members: object): string => Object.keys(members).sort().join();

/** JSON of a value. A long text is shortened to the part around the first difference. */
function shownBeside(value: Json | undefined, other: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'absent';
  if (text.length <= CHARS_MAX) return text;
  const beside = JSON.stringify(other) ?? '';
  let at = 0;
  while (at < text.length && text[at] === beside[at]) at++;
  const from = Math.max(0, at - CHARS_BEFORE);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + CHARS_MAX)}…`;
}
