import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { agentId as idOf } from '../../../schema/ids.ts';
import { approvalLimits } from '../../../schema/limits.ts';
import {
  ApprovalAnswerRequest,
  ApprovalPath,
  ApprovalsBefore,
  LinkAnswerRequest,
  LinkedApproval,
} from '../../../schema/requests/approval.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requirePossession } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { BookContext } from '../context.ts';
import { answerApproval } from './answer.ts';
import { ApprovalAnswerInput, Approvals, ShownApproval, shownApproval } from './approval.type.ts';
import { answerByWallet } from './by-wallet.ts';
import { findApprovals } from './find.ts';
import { linkedApproval } from './link.ts';

const PageArguments = argumentsType(BookPath, ApprovalsBefore);
const AnswerArguments = argumentsType(BookPath, ApprovalPath);
const LinkArguments = argumentsType(LinkedApproval);
const LinkAnswerArguments = argumentsType(LinkedApproval, LinkAnswerRequest);

@Resolver(() => ShownApproval)
export class ApprovalResolver {
  @Query(() => Approvals, {
    nullable: true,
    description:
      'Calls of a book that require an approval, or required one, for whoever possesses it: possession answers none of them.',
  })
  async approvals(@Args(() => PageArguments) asked: ArgumentsOfBook, @Ctx() context: BookContext): Promise<Approvals> {
    const agent_id = requirePossession(context.principal, asked.agentId);
    const { before = null } = readRequest(ApprovalsBefore, asked);
    const { shown_max } = approvalLimits;
    const found = await findApprovals(context.database, { agent_id, limit: shown_max + 1, before });
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
    @Arg('input', () => ApprovalAnswerInput, { description: 'The answer, and its signature.' }) input: Arguments,
    @Args(() => AnswerArguments) asked: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id } = readRequest(ApprovalPath, asked);
    const answer = readRequest(ApprovalAnswerRequest, input, context);
    const named = { agent_id: idOf(asked.agentId), approval_id };
    return shownApproval(context, await answerByWallet(named, answer, context));
  }

  @Query(() => ShownApproval, {
    nullable: true,
    description: 'What a link is for. It changes nothing: whatever looks at links that were sent answers none.',
  })
  async linkedApproval(
    @Args(() => LinkArguments) asked: Arguments,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id, token } = readRequest(LinkedApproval, asked);
    return shownApproval(context, await linkedApproval(context, approval_id, token));
  }

  @Mutation(() => ShownApproval, {
    nullable: true,
    description: 'Answers by the link that the webhook was told, once.',
  })
  async answerLinkedApproval(
    @Args(() => LinkAnswerArguments) asked: Arguments,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id, token } = readRequest(LinkedApproval, asked);
    const { decision } = readRequest(LinkAnswerRequest, asked, context);
    const found = await linkedApproval(context, approval_id, token);
    const answered = { decision, by: 'link' } as const;
    return shownApproval(context, await context.database.transaction(tx => answerApproval(tx, found, answered)));
  }
}
