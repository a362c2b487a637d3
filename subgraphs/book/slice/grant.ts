import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId, AssignmentId } from '../../../schema/ids.ts';
import type { Principal } from '../../../schema/principal.ts';
import type { GrantType, Slice } from '../../../schema/slice.ts';
import type { Database, Tx } from '../../database.ts';

/** Access that a token gives, according to its assignment. */
export interface SliceGrant {
  readonly assignment_id: AssignmentId;
  readonly agent_id: AgentId;
  readonly grant_type: GrantType;
  readonly grantee: string | null;
  readonly slice: Slice;
  /** True if the audit has closed the book. */
  readonly damaged: boolean;
}

const GRANTED = `select a.assignment_id, a.agent_id, a.grant_type, a.grantee, a.slice, b.damage is not null as damaged
  from slice_assignment a join book b using (agent_id)
  where a.token_hash = $1 and a.revoked_at is null and (a.expires_at is null or a.expires_at > clock_timestamp())`;

/**
 * Access that the sent token gives. Null if it gives none. It is read for every request, by the clock of the database, so that a
 * revocation applies in every process.
 */
export async function grantOfToken(
  { slice }: Principal,
  database: Pick<Database, 'query'>,
): Promise<SliceGrant | null> {
  if (slice?.kind !== 'shown') return null;
  const values = [slice.token_hash];
  const [found] = await database.query<SliceGrant & Record<string, unknown>>({
    name: 'granted',
    text: GRANTED,
    values,
  });
  return found ?? null;
}

/** Access that the sent token gives. @throws token_required, token_invalid, book_damaged */
export async function requireSlice(principal: Principal, database: Pick<Database, 'query'>): Promise<SliceGrant> {
  if (principal.slice === undefined) throw new Refusal('token_required');
  const granted = await grantOfToken(principal, database);
  if (granted === null) throw new Refusal('token_invalid');
  if (granted.damaged) throw new Refusal('book_damaged');
  return granted;
}

/**
 * Checks the token in the transaction that writes with it. A concurrent revocation waits for that transaction, and writes after the
 * revocation are refused. Call it after the head is locked: the head is always locked before the assignment. @throws forbidden
 */
export async function requireStillGranted(tx: Tx, { assignment_id }: SliceGrant): Promise<void> {
  const { rows } = await tx.query<JsonObject & object>({
    name: 'still granted',
    text: `select 1 from slice_assignment where assignment_id = $1 and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp()) for share`,
    values: [assignment_id],
  });
  if (rows.length === 0) throw new Refusal('forbidden');
}
