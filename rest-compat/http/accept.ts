/** `type/subtype` of a media type, without its parameters. */
const bare = (media: string) => (media.split(';')[0] ?? '').trim().toLowerCase();

/** What an Accept header says of a media type. */
interface Liking {
  readonly weight: number;
  /** 0: by its name, 1: by its type, 2: as anything is. */
  readonly breadth: number;
  /** Where the range stands in the header. */
  readonly place: number;
}

const UNACCEPTED: Liking = { weight: 0, breadth: 3, place: 0 };

/** By the most specific range that a media type is in (RFC 9110 12.5.1). */
function likingIn(accepted: string, media: string): Liking {
  const [type] = bare(media).split('/');
  const ranges = new Map(accepted.split(',').map((part, place) => [bare(part), { weight: weightOf(part), place }]));
  for (const [breadth, range] of [bare(media), `${type}/*`, '*/*'].entries()) {
    const found = ranges.get(range);
    if (found !== undefined) return { ...found, breadth };
  }
  return UNACCEPTED;
}

/** The weight that an Accept header gives a media type. */
export function weightIn(accepted: string, media: string): number {
  return likingIn(accepted, media).weight;
}

/** Whether a request accepts a media type and says so by its name. */
export function namesIn(accepted: unknown, media: string): boolean {
  if (typeof accepted !== 'string') return false;
  const { weight, breadth } = likingIn(accepted, media);
  return weight > 0 && breadth === 0;
}

/**
 * Of what is offered the best liked: of equals what is named before what a wildcard takes, and of those what the header names
 * first. A request that says nothing of media types takes the first; null where it accepts none of them.
 */
export function bestLiked<M extends string>(accepted: string | undefined, offered: readonly M[]): M | null {
  if (!accepted?.includes('/')) return offered[0] ?? null;
  const liked = offered
    .map(media => ({ media, ...likingIn(accepted, media) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || one.breadth - other.breadth || one.place - other.place);
  return liked[0]?.media ?? null;
}

/** RFC 9110 12.4.2; what is no weight counts as none said. */
function weightOf(range: string): number {
  const [, said] = /;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i.exec(range) ?? [];
  return said === undefined ? 1 : Number(said);
}

/** Whether a request likes another media type better than the usual one, which whoever takes either is given. */
export function likesBetter(accepted: unknown, other: string, usual: string): boolean {
  return typeof accepted === 'string' && weightIn(accepted, other) > weightIn(accepted, usual);
}

interface Forms {
  readonly by_accept?: readonly string[];
  readonly forms?: Readonly<Record<string, { readonly media: string }>>;
  /** The usual one is JSON. */
  readonly media?: string;
}

/** The name of the form that a request likes better than what its door says else; undefined where it does not. */
export function likedForm(
  { by_accept = [], forms = {}, media = 'application/json' }: Forms,
  accepted: unknown,
): string | undefined {
  const mediaOf = (name: string) => forms[name]?.media ?? media;
  const best = by_accept.reduce<string | undefined>(
    (chosen, name) => (likesBetter(accepted, mediaOf(name), chosen ? mediaOf(chosen) : media) ? name : chosen),
    undefined,
  );
  return best;
}
