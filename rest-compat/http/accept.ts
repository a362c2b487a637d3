/** `type/subtype` of a media type, without its parameters. */
const typeWithoutParameters = (media: string) => (media.split(';')[0] ?? '').trim().toLowerCase();

/** What an Accept header says of a media type. */
interface Preference {
  readonly weight: number;
  /** 0: by its name, 1: by its type, 2: by a wildcard. */
  readonly breadth: number;
  /** Position of the range in the header. */
  readonly place: number;
}

const UNACCEPTED: Preference = { weight: 0, breadth: 3, place: 0 };

/** By the most specific range that a media type is in (RFC 9110 12.5.1). */
function preferenceIn(accepted: string, media: string): Preference {
  const [type] = typeWithoutParameters(media).split('/');
  const ranges = new Map(
    accepted.split(',').map((part, place) => [typeWithoutParameters(part), { weight: weightOf(part), place }]),
  );
  for (const [breadth, range] of [typeWithoutParameters(media), `${type}/*`, '*/*'].entries()) {
    const found = ranges.get(range);
    if (found !== undefined) return { ...found, breadth };
  }
  return UNACCEPTED;
}

/** The weight that an Accept header gives a media type. */
export function weightIn(accepted: string, media: string): number {
  return preferenceIn(accepted, media).weight;
}

/** Whether a request accepts a media type and says so by its name. */
export function acceptsByName(accepted: unknown, media: string): boolean {
  if (typeof accepted !== 'string') return false;
  const { weight, breadth } = preferenceIn(accepted, media);
  return weight > 0 && breadth === 0;
}

/**
 * The best accepted media type. Of equal weights, a type that is named goes before one that a wildcard matches, then the order of the
 * header decides. Without an Accept header the first one; null if none is accepted.
 */
export function bestAccepted<M extends string>(accepted: string | undefined, offered: readonly M[]): M | null {
  if (!accepted?.includes('/')) return offered[0] ?? null;
  const accepted_media = offered
    .map(media => ({ media, ...preferenceIn(accepted, media) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || one.breadth - other.breadth || one.place - other.place);
  return accepted_media[0]?.media ?? null;
}

/** RFC 9110 12.4.2. An invalid weight counts as none. */
function weightOf(range: string): number {
  const [, weight] = /;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i.exec(range) ?? [];
  return weight === undefined ? 1 : Number(weight);
}

/** Whether a request prefers another media type to the default. If both have the same weight, the default applies. */
export function prefers(accepted: unknown, other: string, usual: string): boolean {
  return typeof accepted === 'string' && weightIn(accepted, other) > weightIn(accepted, usual);
}

interface Forms {
  readonly by_accept?: readonly string[];
  readonly forms?: Readonly<Record<string, { readonly media: string }>>;
  /** Default: JSON. */
  readonly media?: string;
}

/** The name of the form that a request prefers to the default. Undefined if it prefers the default. */
export function preferredForm(
  { by_accept = [], forms = {}, media = 'application/json' }: Forms,
  accepted: unknown,
): string | undefined {
  const mediaOf = (name: string) => forms[name]?.media ?? media;
  const best = by_accept.reduce<string | undefined>(
    (chosen, name) => (prefers(accepted, mediaOf(name), chosen ? mediaOf(chosen) : media) ? name : chosen),
    undefined,
  );
  return best;
}
