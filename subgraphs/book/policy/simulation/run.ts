import type { AgentId } from '../../../../schema/ids.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import type { TriedTerms } from '../../../../schema/requests/simulation.ts';
import type { Database, Tx } from '../../../database.ts';
import type { Blocked } from '../evaluate.ts';
import { nextRows, type SimulatedTime, type SimulationSpan, simulationSpan } from './read.ts';
import { type LedgerRow, type SimulationState, simulateRow } from './simulate.ts';

export interface SimulationQuery {
  readonly agent_id: AgentId;
  readonly tried: TriedTerms;
  readonly time: SimulatedTime;
  /** Maximum number of listed calls. 0 lists none, and the page then reads its maximum number of rows. */
  readonly limit: number;
  /** Null for the first page. */
  readonly span: SimulationSpan | null;
}

/** The row of a call that would have been refused, and the reason. */
export interface SimulatedBlock {
  readonly row: LedgerRow;
  readonly blocked: Blocked;
}

/** A page of a simulation. Its sums include all earlier pages. */
export interface SimulationPage {
  readonly blocks: readonly SimulatedBlock[];
  readonly span: SimulationSpan;
  readonly complete: boolean;
}

/**
 * Judges the next rows of one snapshot, until `limit` calls are refused or the page has read its maximum number of rows. The rows are
 * read in small parts, so that the event loop is not blocked for long.
 */
export function runSimulation(database: Database, query: SimulationQuery): Promise<SimulationPage> {
  return database.transaction(async tx => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const { agent_id, time } = query;
    return simulatePage(tx, query, query.span ?? (await simulationSpan(tx, agent_id, time)));
  });
}

async function simulatePage(
  tx: Tx,
  { agent_id, tried, time, limit }: SimulationQuery,
  { state: begun, last_seq }: SimulationSpan,
): Promise<SimulationPage> {
  const blocks: SimulatedBlock[] = [];
  const full = () => limit > 0 && blocks.length >= limit;
  let state: SimulationState = begun;
  const end = Math.min(last_seq, begun.seq + policyLimits.simulated_rows_max);
  while (state.seq < end && !full()) {
    const { rows, through } = await nextRows(tx, agent_id, time, { after: state.seq, last_seq: end });
    for (const row of rows) {
      if (full()) break;
      const next = simulateRow(state, tried, row);
      state = next.state;
      if (next.blocked && limit > 0) blocks.push({ row, blocked: next.blocked });
    }
    if (!full()) state = { ...state, seq: through };
  }
  return { blocks, span: { state, last_seq }, complete: state.seq >= last_seq };
}
