import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { taskNamedBy } from '../../../schema/ids.ts';
import type { ReceiptContext } from '../context.ts';
import { taskUnlessHalted } from '../receipt/task-status.ts';
import { ResultProof } from './proof.type.ts';
import { proveResult } from './prove.ts';

@Resolver()
export class ProofResolver {
  @Query(() => ResultProof, { nullable: true, description: 'What can be proven of a task; public, as its receipt is.' })
  async proveResult(
    @Arg('taskId', () => String, { description: 'The id of the task, or of an answer to it.' }) taskId: string,
    @Arg('requested', () => Boolean, {
      defaultValue: false,
      description: 'True: the settlement is shown below the cost gate, too.',
    })
    requested: boolean,
    @Ctx() context: ReceiptContext,
  ): Promise<ResultProof | null> {
    const task = taskUnlessHalted(context.database, await context.findTask(taskNamedBy(taskId)));
    return task && proveResult(context.database, task, requested);
  }
}
