import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, agentId as idOf } from '../../../schema/ids.ts';
import { approvalLimits } from '../../../schema/limits.ts';
import { endpointsOf } from '../../../schema/paid-operations.ts';
import {
  ApprovalAnswerRequest,
  ApprovalPath,
  ApprovalsBefore,
  LinkAnswerRequest,
  LinkedApproval,
} from '../../../schema/requests/approval.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { ApprovalNoun, ApprovalsNoun, approvalText } from '../../../schema/session/approval.ts';
import { requirePossession } from '../../access.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  inputType,
  objectType,
  readRequest,
} from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import type { Vault } from '../../vault.ts';
import type { BookContext } from '../context.ts';
import { type AskingWallet, requireBelieved, verifyAgentWallet } from './agents-wallet.ts';
import { answerApproval } from './answer.ts';
import { openCallText } from './call-text.ts';
import { type FoundApproval, findApprovals, passesUntil, statusOfApproval } from './find.ts';
import { linkedApproval } from './link.ts';

/* GraphQL fields that show approval requests and answer them, by link or by the wallet of the agent. */

export const ShownApproval = objectType(
  'ApprovalRequest',
  'A call that the book refused because it requires an approval.',
  ApprovalNoun,
);
type ShownApproval = InstanceType<typeof ShownApproval>;
export const Approvals = objectType(
  'Approvals',
  'Calls of a book that require an approval, or required one.',
  ApprovalsNoun,
);
type Approvals = InstanceType<typeof Approvals>;
const ApprovalAnswerInput = inputType(
  'ApprovalAnswerInput',
  'Answer to an approval request, signed by the wallet of the agent.',
  ApprovalAnswerRequest,
);

function shownApproval({ vault }: { readonly vault: Pick<Vault, 'open'> }, found: FoundApproval): ShownApproval {
  const { taken: _taken, ttlSeconds: _ttl, now: _now, sessionPath: _path, agentAddress: _key, ...said } = found;
  const { decision: _decision, textBox, ...shown } = said;
  const status = statusOfApproval(found);
  const text = status === 'open' ? openCallText(vault, found.approvalId, textBox) : null;
  return {
    ...shown,
    requestText: text?.request_text ?? null,
    requestTextCharacters: text?.request_text_characters ?? null,
    note: text?.note ?? null,
    status,
    doors: endpointsOf(found.field),
    passesUntil: passesUntil(found),
  };
}

const PageArguments = argumentsType(BookPath, ApprovalsBefore);
const AnswerArguments = argumentsType(BookPath, ApprovalPath);
const LinkArguments = argumentsType(LinkedApproval);
const LinkAnswerArguments = argumentsType(LinkedApproval, LinkAnswerRequest);

@Resolver(() => ShownApproval)
export class ApprovalResolver {
  @Query(() => Approvals, {
    nullable: true,
    description:
      'Calls of a book that require an approval or required one. Requires possession of the book, which does not suffice to answer them. Null if there is an error.',
  })
  async approvals(@Args(() => PageArguments) args: ArgumentsOfBook, @Ctx() context: BookContext): Promise<Approvals> {
    const agent_id = requirePossession(context.principal, args.agentId);
    const { before = null } = readRequest(ApprovalsBefore, args);
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
      'Answers an approval request with a signature of the wallet of the agent. The signature is the only credential: a session is not accepted. Null if there is an error.',
  })
  async answerApproval(
    @Arg('input', () => ApprovalAnswerInput, {
      description: 'Whether the call may pass, and the signature of the wallet of the agent.',
    })
    input: Arguments,
    @Args(() => AnswerArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id } = readRequest(ApprovalPath, args);
    const answer = readRequest(ApprovalAnswerRequest, input, context);
    const named = { agent_id: idOf(args.agentId), approval_id };
    return shownApproval(context, await answerByWallet(named, answer, context));
  }

  @Query(() => ShownApproval, {
    nullable: true,
    description:
      'The approval request that a link is for. Reading it changes nothing, so link previews answer no request. Requires the token of the link, in `token`. Null if there is an error.',
  })
  async linkedApproval(
    @Args(() => LinkArguments) args: Arguments,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id, token } = readRequest(LinkedApproval, args);
    return shownApproval(context, await linkedApproval(context, approval_id, token));
  }

  @Mutation(() => ShownApproval, {
    nullable: true,
    description:
      'Answers an approval request. Requires the token of the link that was sent to the webhook, in `token`. A request is answered once; the same answer again changes nothing. Null if there is an error.',
  })
  async answerLinkedApproval(
    @Args(() => LinkAnswerArguments) args: Arguments,
    @Ctx() context: BookContext,
  ): Promise<ShownApproval> {
    requireNotHalted(context.database);
    const { approval_id, token } = readRequest(LinkedApproval, args);
    const { decision } = readRequest(LinkAnswerRequest, args, context);
    const found = await linkedApproval(context, approval_id, token);
    const answered = { decision, by: 'link' } as const;
    return shownApproval(context, await context.database.transaction(tx => answerApproval(tx, found, answered)));
  }
}

/**
 * Answers with a signature of the agentWallet, which is the only credential. The signature covers this service, the request, the
 * hash of its call, the answer and the time. @throws not_found, control_proof_invalid, chain_unavailable, unavailable, rate_limited,
 * book_damaged, approval_closed
 */
async function answerByWallet(
  { agent_id, approval_id }: { readonly agent_id: AgentId; readonly approval_id: string },
  { decision, ...word }: ApprovalAnswerRequest,
  asking: AskingWallet & Pick<BookContext, 'database'>,
): Promise<FoundApproval> {
  const { database } = asking;
  const [found] = await findApprovals(database, { approval_id, agent_id });
  if (!found) throw new Refusal('not_found');
  const named = { approval_id, request_hash: found.requestHash };
  const text = (base_url: string, at_seconds: number) => approvalText(base_url, named, decision, at_seconds);
  requireBelieved(await verifyAgentWallet(agent_id, word, text, asking));
  return database.transaction(tx => answerApproval(tx, found, { decision, by: 'wallet' }));
}
