import type { BoardSecret } from '../../schema/board/shared-secret.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Principal } from '../../schema/principal.ts';

const HEADERS: Readonly<Record<BoardSecret, string>> = { ops: 'X-SVC-Board-Ops', inbound: 'X-SVC-Board-Inbound' };

/** Checks that the request has that secret of the board. Other credentials do not count. @throws unauthenticated, forbidden */
export function requireBoardSecret({ board }: Principal, secret: BoardSecret): void {
  const standing = board?.[secret];
  if (standing === undefined)
    throw new Refusal('unauthenticated', {
      detail: `The secret of the board is required, in the header ${HEADERS[secret]}.`,
    });
  if (standing === 'wrong') throw new Refusal('forbidden', { detail: 'The secret of the board is invalid.' });
}
