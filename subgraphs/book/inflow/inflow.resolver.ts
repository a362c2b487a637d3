import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { CorrectedInflowNoun } from '../../../schema/book/row.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { CorrectionRequest, InflowRequest } from '../../../schema/requests/inflow.ts';
import { requirePossession } from '../../access.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  inputType,
  objectType,
  readRequest,
} from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { rowsOf } from '../page/page.ts';
import { rowScope } from '../page/row-scope.ts';
import { requireRecorder } from '../slice/collect.ts';
import { correctInflow } from './correct.ts';
import { recordInflow } from './record.ts';

const InflowInput = inputType(
  'InflowInput',
  'Inflow to record: a claim that an amount is set aside. It is no payment.',
  InflowRequest,
);
const InflowCorrectionInput = inputType(
  'InflowCorrectionInput',
  'Correction of an inflow, or of an earlier correction.',
  CorrectionRequest,
);

const CorrectedInflow = objectType('CorrectedInflow', 'An inflow and its new correction.', CorrectedInflowNoun);
type CorrectedInflow = InstanceType<typeof CorrectedInflow>;

const BookArguments = argumentsType(BookPath);

@Resolver()
export class InflowResolver {
  @Mutation(() => BookRow, {
    nullable: true,
    description:
      'Records an inflow: an amount that the owner of the book sets aside for a purpose. No money moves. Returns its row. Requires possession of the book, or the token of a `collect` assignment (`Authorization: Bearer`). Null if there is an error.',
  })
  async recordInflow(
    @Arg('input', () => InflowInput, { description: 'The amount, and what the money is for.' }) input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<BookRow> {
    const recorder = await requireRecorder(context, agentId);
    const taskId = await recordInflow(readRequest(InflowRequest, input, context), recorder, context);
    return rowAt(context, recorder.agent_id, { taskId });
  }

  @Mutation(() => CorrectedInflow, {
    nullable: true,
    description:
      'Appends a correction to an inflow, or to an earlier correction. Requires possession of the book. Null if there is an error.',
  })
  async correctInflow(
    @Arg('input', () => InflowCorrectionInput, { description: 'The row to correct, the reason and the new values.' })
    input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<CorrectedInflow> {
    const agent_id = requirePossession(context.principal, agentId);
    const request = readRequest(CorrectionRequest, input, context);
    const { original_seq, seq, again } = await correctInflow(request, agent_id, context);
    const [row, correction] = await Promise.all([
      rowAt(context, agent_id, { seq: original_seq }),
      rowAt(context, agent_id, { seq }),
    ]);
    return { row, correction, idempotentReplay: again };
  }
}

/** Reads a row that was just written. */
async function rowAt(
  { database }: BookContext,
  agent_id: AgentId,
  filter: { readonly taskId: string } | { readonly seq: number },
): Promise<BookRow> {
  const [row] = await rowsOf(database, rowScope(agent_id, { limit: 1, filter }));
  if (!row) throw new Error('what was appended is not there');
  return row;
}
