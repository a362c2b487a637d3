import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { withoutNull } from '../../../schema/camel.ts';
import { agentId as idOf } from '../../../schema/ids.ts';
import { approvalLimits } from '../../../schema/limits.ts';
import {
  ApprovalAnswerRequest,
  ApprovalPath,
  ApprovalsBefore,
  LinkAnswerRequest,
  LinkedApproval,
} from '../../../schema/requests/approval.ts';
import { parseRequest, requestOf } from '../../../schema/requests/parse.ts';
import { type ApprovalDecision } from '../../../schema/session/approval.ts';
import { requirePossession } from '../../access.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { BookContext } from '../context.ts';
import { answerApproval } from './answer.ts';
import { ApprovalAnswerInput, ApprovalDecisionWord, Approvals, ShownApproval, shownApproval } from './approval.type.ts';
import { answerByWallet } from './by-wallet.ts';
import { findApprovals } from './find.ts';
import { linkedApproval } from './link.ts';

const WHICH = 'Of the approval request.';
const TOKEN = 'What stands behind the # of the link that the webhook was told, after the id.';

@Resolver(() => ShownApproval)
export class ApprovalResolver {
  @Query(() => Approvals, {
    nullable: true,
    description: 'Calls of a book that want an approval, or wanted one, for whoever possesses it: that answers none.',
  })
  async approvals(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('before', () => String, { nullable: true, description: 'Approval requests older than the one with this id.' })
    before: string | null,
    @Ctx() context: BookContext,
  ): Promise<Approvals> {
    const agent_id = requirePossession(context.principal, agentId);
    const page = parseRequest(ApprovalsBefore, withoutNull({ before }));
    const { shown_max } = approvalLimits;
    const found = await findApprovals(context.database, {
      agent_id,
      limit: shown_max + 1,
      before: page.before ?? null,
    });
    const approvals = found.slice(0, shown_max).map(each => shownApproval(context, each));
    return {
      agentId: agent_id,
      approvals,
      next: found.length > shown_max ? (approvals.at(-1)?.approvalId ?? null) : null,
    };
  }

  @Mutation(() => ShownApproval, {
    nullable: true,
    description:
      "Answers by the signature of the agent's wallet, which is the whole credential: a session answers nothing.",
  })
  async answerApproval(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('approvalId', () => String, { description: WHICH }) approvalId: string,
    @Arg('input', () => ApprovalAnswerInput, { description: 'The answer, and its signature.' })
    input: ApprovalAnswerInput,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id } = parseRequest(ApprovalPath, { approval_id: approvalId });
    const answer = requestOf(ApprovalAnswerRequest, input, context.valid_body);
    return shownApproval(context, await answerByWallet({ agent_id: idOf(agentId), approval_id }, answer, context));
  }

  @Query(() => ShownApproval, {
    nullable: true,
    description: 'What a link is for. It changes nothing: whatever looks at links that were sent answers none.',
  })
  async linkedApproval(
    @Arg('approvalId', () => String, { description: WHICH }) approvalId: string,
    @Arg('token', () => String, { description: TOKEN }) token: string,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id, token: shown } = parseRequest(LinkedApproval, { approval_id: approvalId, token });
    return shownApproval(context, await linkedApproval(context, approval_id, shown));
  }

  @Mutation(() => ShownApproval, {
    nullable: true,
    description: 'Answers by the link that the webhook was told, once.',
  })
  async answerLinkedApproval(
    @Arg('approvalId', () => String, { description: WHICH }) approvalId: string,
    @Arg('token', () => String, { description: TOKEN }) token: string,
    @Arg('decision', () => ApprovalDecisionWord, { description: 'What is answered.' }) decision: ApprovalDecision,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id, token: shown } = parseRequest(LinkedApproval, { approval_id: approvalId, token });
    const answer = requestOf(LinkAnswerRequest, { decision }, context.valid_body);
    const found = await linkedApproval(context, approval_id, shown);
    const answered = { ...answer, by: 'link' } as const;
    return shownApproval(context, await context.database.transaction(tx => answerApproval(tx, found, answered)));
  }
}
