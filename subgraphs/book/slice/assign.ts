import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, assignmentId } from '../../../schema/ids.ts';
import { sliceLimits } from '../../../schema/limits.ts';
import type { HeldBook, ProvenBy } from '../../../schema/principal.ts';
import { type AssignmentMembers, sliceOf } from '../../../schema/requests/assignment.ts';
import { SLICE_TOKEN_BYTES, sliceToken } from '../../../schema/slice-token.ts';
import { iso } from '../../clock.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import type { BookContext } from '../context.ts';
import { lockBook } from '../ledger/damage.ts';
import { sessionMark } from '../ledger/terms.ts';
import { SliceAssignment } from './assignment.entity.ts';

/** Random bytes of an id. */
const ID_BYTES = 10;

const LIVE = '(revoked_at is null and (expires_at is null or expires_at > clock_timestamp()))';

type Creator = Pick<BookContext, 'database' | 'clock' | 'random'>;

/**
 * Creates an assignment. Its token is only returned here: the service stores a hash of it. @throws invalid_request if it would expire
 * before it begins, assignments_full
 */
export async function createAssignment(
  { database, clock, random }: Creator,
  { agent_id, session_hash, by }: HeldBook & ProvenBy,
  members: AssignmentMembers,
): Promise<{ readonly assignment: SliceAssignment; readonly token: string }> {
  const { grant_type = 'read', grantee = null, expires_at = null } = members;
  const now_ms = clock.now_ms();
  if (expires_at !== null && Date.parse(expires_at) <= now_ms)
    throw new Refusal('invalid_request', { param: 'expires_at', detail: 'expires_at: must be in the future.' });
  const token = sliceToken(random.bytes(SLICE_TOKEN_BYTES));
  const id = assignmentId(now_ms, random.bytes(ID_BYTES));
  const values = [id, agent_id, grant_type, grantee, sliceOf(members), expires_at, sha256Hex(token), iso(now_ms)];
  const insert = {
    name: 'create assignment',
    text: `insert into slice_assignment (assignment_id, agent_id, grant_type, grantee, slice, expires_at, token_hash,
        created_at, created_session, created_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      returning ${selectList(SliceAssignment)}`,
    values: [...values, sessionMark(session_hash), by],
  };
  const assignment = await database.transaction(async tx => {
    await requirePlace(tx, agent_id);
    const { rows } = await tx.query<Record<string, unknown>>(insert);
    return rows[0];
  });
  if (!assignment) throw new Error('an assignment was not inserted');
  return { assignment: asEntity(SliceAssignment, assignment), token };
}

/**
 * Checks the limit of live assignments. It locks the book, so that concurrent requests cannot exceed the limit. It also deletes all but
 * the newest ended assignments. @throws assignments_full
 */
async function requirePlace(tx: Tx, agent_id: AgentId): Promise<void> {
  await lockBook(tx, agent_id);
  const { rows } = await tx.query<{ live: number }>({
    name: 'live assignments',
    text: `select count(*)::int as live from slice_assignment where agent_id = $1 and ${LIVE}`,
    values: [agent_id],
  });
  if ((rows[0]?.live ?? 0) >= sliceLimits.live_per_book_max) throw new Refusal('assignments_full');
  tx.write({
    name: 'forget assignments',
    text: `delete from slice_assignment where assignment_id in (select assignment_id from slice_assignment
      where agent_id = $1 and not ${LIVE} order by assignment_id desc offset $2)`,
    values: [agent_id, sliceLimits.over_kept_max],
  });
}

/** All stored assignments of a book, newest first. Their ids sort by time. */
export async function assignmentsOf(database: Database, agent_id: AgentId): Promise<SliceAssignment[]> {
  const found = await database.query({
    name: 'assignments of book',
    text: `select ${selectList(SliceAssignment)} from slice_assignment where agent_id = $1
      order by assignment_id desc`,
    values: [agent_id],
  });
  return found.map(row => asEntity(SliceAssignment, row));
}

/**
 * Revokes an assignment. Every process refuses its token once this returns. Repeating it changes nothing. @throws not_found
 */
export async function revokeAssignment(
  database: Database,
  { agent_id, session_hash, by }: HeldBook & ProvenBy,
  assignment_id: string,
): Promise<SliceAssignment> {
  const first = (column: string, value: string) =>
    `${column} = case when revoked_at is null then ${value} else ${column} end`;
  const [revoked] = await database.query({
    name: 'revoke assignment',
    text: `update slice_assignment set ${first('revoked_by', '$3')}, ${first('revoked_session', '$4')},
        revoked_at = coalesce(revoked_at, clock_timestamp())
      where agent_id = $1 and assignment_id = $2 returning ${selectList(SliceAssignment)}`,
    values: [agent_id, assignment_id, by, sessionMark(session_hash)],
  });
  if (!revoked) throw new Refusal('not_found', { detail: 'The book has no assignment with this id.' });
  return asEntity(SliceAssignment, revoked);
}

/** Revokes all live assignments. `revoked_by` stays null, because no owner requested it. */
export async function revokeAllAssignments(tx: Tx): Promise<void> {
  await tx.query(`update slice_assignment set revoked_at = clock_timestamp() where ${LIVE}`);
}
