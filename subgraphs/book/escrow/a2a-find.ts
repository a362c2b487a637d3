import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import type { A2aName, EscrowPage } from '../../../schema/requests/escrow.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { StoredA2aEscrow } from './a2a-escrow.entity.ts';

/* Reads escrows between two agents for one of the two. Other agents find none. */

type Queryable = Pick<Database, 'query'>;

export interface FoundA2aEscrow {
  readonly escrow: StoredA2aEscrow;
  /** Time by the clock of the database. */
  readonly now_ms: number;
}

interface Row {
  readonly now_ms: number;
  readonly rank: number;
}

const columns = () =>
  `${selectList(StoredA2aEscrow)}, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms`;

/**
 * Finds an escrow by its job id. Job ids are unique per principal only, so an agent may have several escrows with the same id. Escrows
 * that the agent opened come first, then funded ones, so that no other agent can block a job id by opening an unfunded escrow.
 * @throws escrow_not_found, invalid_request if several match equally
 */
export async function requireA2aEscrow(
  { query }: Queryable,
  agent_id: AgentId,
  { job_id, parties }: A2aName,
): Promise<FoundA2aEscrow> {
  const [found, next] = await query<Row & object>({
    name: 'a2a escrow by job',
    text: `select ${columns()},
        case when principal_agent_id = $1 then 0 when phases @> '[{"action":"fund"}]' then 1 else 2 end as rank
      from a2a_escrow where (principal_agent_id = $1 and job_id = $2 or counterparty_agent_id = $1 and job_id = $2)
        and ($3::int is null or principal_agent_id = $3) and ($4::int is null or counterparty_agent_id = $4)
      order by rank, escrow_id limit 2`,
    values: [agent_id, job_id, parties?.principal_agent_id ?? null, parties?.counterparty_agent_id ?? null],
  });
  if (!found) throw new Refusal('escrow_not_found');
  if (next?.rank === found.rank)
    throw new Refusal('invalid_request', {
      param: 'parties',
      detail: 'parties: the agent has several escrows with this job_id. Name the principal.',
    });
  return foundAs(found);
}

/** The escrow of this principal with this job id. Null if there is none. Call it under the lock of the principal's head. */
export async function a2aEscrowOfJob(tx: Tx, principal: AgentId, job_id: string): Promise<StoredA2aEscrow | null> {
  const { rows } = await tx.query<Row>({
    name: 'a2a escrow of job',
    text: `select ${columns()} from a2a_escrow where principal_agent_id = $1 and job_id = $2`,
    values: [principal, job_id],
  });
  return rows[0] ? foundAs(rows[0]).escrow : null;
}

/** Reads an escrow again under the lock of the principal's head, where no other transaction can write it. */
export async function a2aEscrowAgain(tx: Tx, { escrowId }: StoredA2aEscrow): Promise<StoredA2aEscrow> {
  const { rows } = await tx.query<Row>({
    name: 'a2a escrow again',
    text: `select ${columns()} from a2a_escrow where escrow_id = $1`,
    values: [escrowId],
  });
  if (!rows[0]) throw new Error('an escrow is gone');
  return foundAs(rows[0]).escrow;
}

/** A page of escrows. `next` is the value of `before` for the next page. It is null on the last page. */
interface FoundA2aEscrows {
  readonly found: readonly FoundA2aEscrow[];
  readonly next: string | null;
}

/**
 * Escrows in which the agent is a party, newest first, older than `before`. The query for each role uses its own index and reads one
 * escrow more than is shown, to find out whether there is another page.
 */
export async function a2aEscrowsOf(
  { query }: Queryable,
  agent_id: AgentId,
  { limit, before }: EscrowPage,
): Promise<FoundA2aEscrows> {
  // The first page has its own statement, because a shared plan for any `before` would scan all newer rows.
  const [name, older] =
    before === undefined ? ['newest a2a escrows of agent', ''] : ['a2a escrows of agent', 'and escrow_id < $3'];
  const side = (column: string) =>
    `(select * from a2a_escrow where ${column} = $1 ${older} order by escrow_id desc limit $2)`;
  const rows = Math.min(limit ?? escrowLimits.page_default, escrowLimits.page_max);
  const found = await query<Row & object>({
    name,
    text: `select ${columns()} from (${side('principal_agent_id')} union all ${side('counterparty_agent_id')}) both_sides
      order by escrow_id desc limit $2`,
    values: [agent_id, rows + 1, ...(before === undefined ? [] : [before])],
  });
  const shown = found.slice(0, rows).map(foundAs);
  return { found: shown, next: found.length > rows ? (shown.at(-1)?.escrow.escrowId ?? null) : null };
}

function foundAs({ now_ms, rank: _, ...row }: Row): FoundA2aEscrow {
  return { escrow: asEntity(StoredA2aEscrow, row), now_ms };
}
