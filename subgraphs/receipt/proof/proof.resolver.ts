import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { taskNamedBy } from '../../../schema/ids.ts';
import { ProofRequest } from '../../../schema/requests/receipt.ts';
import { type Arguments, argumentsType, givenMembers } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { taskUnlessHalted } from '../receipt/task-status.ts';
import { ResultProof } from './proof.type.ts';
import { proveResult } from './prove.ts';

const ProofArguments = argumentsType(ProofRequest);

@Resolver()
export class ProofResolver {
  @Query(() => ResultProof, {
    nullable: true,
    description:
      'Proof of a task: its settlement, and the place of its receipt in the log. Public. Null if no task has this id, or on error.',
  })
  async proveResult(
    @Args(() => ProofArguments) asked: Arguments,
    @Ctx() context: ReceiptContext,
  ): Promise<ResultProof | null> {
    const { task_id, requested = false } = givenMembers(ProofRequest, asked);
    const task = taskUnlessHalted(context.database, await context.findTask(taskNamedBy(task_id)));
    return task && proveResult(context.database, task, requested);
  }
}
