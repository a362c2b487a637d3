import { logOrigin } from '../../../schema/links.ts';

/* Whether a process may serve a database: it has to be the service that the database has been served by. Pure. */

export type MarkName = 'seal_key' | 'base_url' | 'log_origin';

/** What a process brings. */
export interface ServiceFacts {
  /** By SEAL_KEY itself: see `Vault.mark`. */
  readonly seal_mark: string;
  readonly base_url: string;
  /** Of its ISSUER_KEYS, the current one first. */
  readonly kids: readonly string[];
  /** Of the issuer history that its DATA_DIR holds a copy of. */
  readonly copied_kids: readonly string[];
}

/** What the database says of whoever has served it. A member is null, or a list empty, where nobody has said it yet. */
export interface KnownService {
  readonly seal_mark: string | null;
  readonly base_url: string | null;
  readonly log_origin: string | null;
  /** Of the issuer history, oldest first. */
  readonly kids: readonly string[];
}

/** What an operator sets, and has to be the same for all who serve one database. */
export type ServicePart = 'SEAL_KEY' | 'ISSUER_KEYS' | 'BASE_URL';

/** What of a process is another service's than the database's; empty where it may serve. */
export function changedParts(known: KnownService, own: ServiceFacts): readonly ServicePart[] {
  const changed: Readonly<Record<ServicePart, boolean>> = {
    SEAL_KEY: known.seal_mark !== null && known.seal_mark !== own.seal_mark,
    ISSUER_KEYS: isStranger(known.kids, own),
    BASE_URL: known.base_url !== null && known.base_url !== own.base_url,
  };
  return (Object.keys(changed) as ServicePart[]).filter(part => changed[part]);
}

/**
 * A seed takes the place of the one before it where that stands behind it. A seed that was current once is nobody else's: what
 * is wrong with it is said where the histories are compared.
 */
function isStranger(known: readonly string[], { kids, copied_kids }: ServiceFacts): boolean {
  const [current = ''] = kids;
  const newest = known.at(-1);
  return newest !== undefined && !kids.includes(newest) && ![...known, ...copied_kids].includes(current);
}

/** The log is called as it was from the beginning, whatever the service calls itself by now: those who follow it know it by that. */
export function originOf({ log_origin, base_url }: KnownService, own: Pick<ServiceFacts, 'base_url'>): string {
  return log_origin ?? logOrigin(base_url ?? own.base_url);
}
