/** Says whether what came along in the place of a board's secret is that secret. Only digests are kept, and compared. */
import { timingSafeEqual } from 'node:crypto';
import type { BoardSecret, BoardStanding, ShownBoardSecrets } from '../../schema/board/shared-secret.ts';
import { sha256 } from '../../schema/digest.ts';

/** Null where neither came along. */
export type BoardKeys = (shown: ShownBoardSecrets) => BoardStanding | null;

export function openBoardKeys(secrets: { readonly [secret in BoardSecret]: string }): BoardKeys {
  const known = { ops: sha256(secrets.ops), inbound: sha256(secrets.inbound) };
  const standing = (secret: BoardSecret, digest: string) => {
    const shown = Buffer.from(digest, 'hex');
    return timingSafeEqual(shown, known[secret]) ? 'held' : 'wrong';
  };
  return ({ ops, inbound }) => {
    if (ops === undefined && inbound === undefined) return null;
    return {
      ...(ops === undefined ? {} : { ops: standing('ops', ops) }),
      ...(inbound === undefined ? {} : { inbound: standing('inbound', inbound) }),
    };
  };
}
