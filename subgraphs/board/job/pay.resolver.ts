import { Args, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { JobPath, PayJobRequest } from '../../../schema/requests/board-job.ts';
import { requireWriting } from '../../access.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { requireJob } from './find.ts';
import type { BoardJob } from './job.entity.ts';
import { ShownJob } from './job.type.ts';
import { legsOf } from './legs.ts';
import { asPayable } from './mark-paid.ts';
import { jobPayment, type PaidJob } from './pay.paid.ts';
import { outputRefusal } from './refuse.ts';
import { jobView } from './view.ts';

const PayArguments = argumentsType(JobPath, PayJobRequest);

@Resolver()
export class JobPaymentResolver {
  @Directive('@paid(price: "by request")')
  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'Pays for a delivered job in two payments: the price to the winner, then a fixed fee (stamp) and 1 % of the price to this ' +
      'service. Requires possession of the book of the poster. Until both are settled, each call answers with the error ' +
      '`payment_required` and the payment that is still to be made. Null only on error.',
  })
  async payJob(@Args(() => PayArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { principal, database, resource } = context;
    const author = authorOf(context, asked);
    requireWriting(principal);
    const job_id = readRequest(JobPath, asked).id;
    const { output_sha256 } = readRequest(PayJobRequest, asked, context);
    // The job is read only once, because both payments may be recorded at this moment and two reads could disagree.
    const found = await requireJob(database, job_id);
    const { job } = found;
    if (job.agentId !== author.agent_id) throw new Refusal('not_a_party');
    const brought = broughtBy(job);
    const legs = brought === null ? asPayable(found).legs : legsOf(job);
    if (legs === null) throw new Refusal('job_state_conflict');
    const refused = outputRefusal(job, output_sha256 ?? null);
    const { settlement_status } = await context.chargeLegs(
      jobPayment(job_id, { legs, delivery: job, resource }, { brought, refused }),
      { agent_id: author.agent_id, job_id, ...present({ output_sha256: output_sha256 ?? undefined }) },
      { ...context, principal: { ...principal, possession: { kind: 'proven', ...author } } },
    );
    context.response.headers['x-svc-settlement-status'] = settlement_status;
    return jobView(await requireJob(database, job_id));
  }
}

function broughtBy({ jobId: job_id, payoutTaskId: task_id }: BoardJob): PaidJob | null {
  return task_id === null ? null : { job_id, task_id };
}
