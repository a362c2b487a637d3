import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { approvalLimits } from '../../../schema/limits.ts';
import { endpointsOf } from '../../../schema/paid-operations.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import {
  type ApprovalDecision,
  type ApprovalMeans,
  type ApprovalStatus,
  approvalDecisions,
  approvalMeans,
  approvalStatuses,
} from '../../../schema/session/approval.ts';
import { wordEnum } from '../../graph-enum.ts';
import type { Vault } from '../../vault.ts';
import { openAskedText } from './asked-text.ts';
import { type FoundApproval, passesUntil, statusOfApproval } from './find.ts';

export const ApprovalDecisionWord = wordEnum(approvalDecisions);
const ApprovalMeansWord = wordEnum(approvalMeans);
const ApprovalStatusWord = wordEnum(approvalStatuses);

@ObjectType('ApprovalRequest', {
  description: 'A call that the book has refused for want of an approval: who, what, how much, until when.',
})
export class ShownApproval {
  @Field(() => String, { description: 'Its own id.' }) approvalId!: string;
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => ApprovalStatusWord, { description: 'How it stands.' }) status!: ApprovalStatus;
  @Field(() => String, { description: 'SHA-256 of field, arguments and session: what is approved, and nothing else.' })
  requestHash!: string;
  @Field(() => AtomicAmountScalar, { description: 'What the call would be charged.' }) amountAtomic!: AtomicAmount;
  @Field(() => String, { description: 'Whose payment it is.' }) payer!: string;
  @Field(() => String, { nullable: true, description: 'The delegated session that it is made under.' })
  delegationHash!: string | null;
  @Field(() => String, { nullable: true, description: 'As the request names it.' }) model!: string | null;
  @Field(() => String, { description: 'The paid field.' }) field!: string;
  @Field(() => [String], { description: 'Names of its endpoints.' }) doors!: readonly string[];
  @Field(() => String, { description: 'Of the row of the refused call.' }) taskId!: string;
  @Field(() => Int, { description: 'The place of that row in the book.' }) seq!: number;
  @Field(() => String, { description: 'Which policy wants it approved.' }) policyCode!: string;
  @Field(() => DateTimeScalar, { description: 'When the call was refused.' }) askedAt!: Date;
  @Field(() => DateTimeScalar, { description: 'Until when it may be answered.' }) openUntil!: Date;
  @Field(() => ApprovalMeansWord, { nullable: true, description: 'By what it was answered.' })
  decidedBy!: ApprovalMeans | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was answered.' }) decidedAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Until when the approved call passes.' })
  passesUntil!: Date | null;
  @Field(() => String, {
    nullable: true,
    description: `What the call asks for, taken from the request that requestHash is of: at most the first ${approvalLimits.request_text_characters_max} characters. Null once the request is answered or has expired.`,
  })
  requestText!: string | null;
  @Field(() => Int, {
    nullable: true,
    description:
      'Length of the whole text of the request, in Unicode code points. The part beyond requestText is not shown. Null without requestText.',
  })
  requestTextCharacters!: number | null;
  @Field(() => String, {
    nullable: true,
    description:
      'What the caller says that the call is for (X-SVC-Note): its own claim, which nobody has checked and which is not part of what is approved. Null without requestText.',
  })
  note!: string | null;
}

@ObjectType({ description: 'Calls of a book that want an approval, or wanted one.' })
export class Approvals {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Directive(`@listSize(assumedSize: ${approvalLimits.shown_max})`)
  @Field(() => [ShownApproval], { description: 'Newest first.' })
  approvals!: readonly ShownApproval[];
  @Field(() => String, { nullable: true, description: '`before` of the next page. Null if there is none.' }) next!:
    | string
    | null;
}

@InputType({ description: "An answer by the agent's wallet." })
export class ApprovalAnswerInput {
  @Field(() => ApprovalDecisionWord, { description: 'What is answered.' }) decision!: ApprovalDecision;
  @Field(() => String, {
    description:
      'Over `svc.approval.<decision>|<base URL of this service>|<approval_id>|<request_hash>|<unix_seconds>`.',
  })
  walletSignature!: string;
  @Field(() => Int, { description: 'The Unix seconds in the signed text: now.' }) signatureTimestamp!: number;
}

export function shownApproval({ vault }: { readonly vault: Pick<Vault, 'open'> }, found: FoundApproval): ShownApproval {
  const { taken: _taken, ttlSeconds: _ttl, now: _now, sessionPath: _path, agentAddress: _key, ...said } = found;
  const { decision: _decision, textBox, ...shown } = said;
  const status = statusOfApproval(found);
  const text = status === 'open' ? openAskedText(vault, found.approvalId, textBox) : null;
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
