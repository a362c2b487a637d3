/** `type/subtype` of a media type, without its parameters. */
const bare = (media: string) => (media.split(';')[0] ?? '').trim().toLowerCase();

/** The weight that an Accept header gives a media type (RFC 9110 12.5.1): the most specific range that it is in decides. */
export function weightIn(accepted: string, media: string): number {
  const [type] = bare(media).split('/');
  const ranges = new Map(accepted.split(',').map(part => [bare(part), weightOf(part)]));
  for (const range of [bare(media), `${type}/*`, '*/*']) {
    const weight = ranges.get(range);
    if (weight !== undefined) return weight;
  }
  return 0;
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
