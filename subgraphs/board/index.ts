import type { AnyPaid } from '../sale.ts';
import { type AddedResolvers, buildSubgraph, type Subgraph } from '../subgraph.ts';
import { BoardComment } from './comment/comment.entity.ts';
import { commentPaid } from './comment/comment.paid.ts';
import { BoardCommentResolver, BoardComments, commentsWritten } from './comment/comment.resolver.ts';
import { BoardEvent, BoardHead } from './event/board-event.entity.ts';
import { BoardEventResolver } from './event/board-event.resolver.ts';
import { BoardFeedResolver } from './feed/feed.resolver.ts';
import { BoardFlag } from './flag/flag.entity.ts';
import { commentFlagPaid, jobFlagPaid, postFlagPaid } from './flag/flag.paid.ts';
import { BoardFlagResolver } from './flag/flag.resolver.ts';
import { BoardFlagRecord, BoardJobFlagRecord } from './flag/flag.type.ts';
import { FlagCount } from './flag/flag-count.entity.ts';
import { FlagListResolver } from './flag/flag-list.resolver.ts';
import { HidingResolver } from './hiding/hiding.resolver.ts';
import { BoardCompletion } from './inbound/completion.entity.ts';
import { InboundResolver } from './inbound/inbound.resolver.ts';
import { AgentRecordJobsResolver, AgentRecordReference } from './job/agent-record.resolver.ts';
import { BoardBid } from './job/bid.entity.ts';
import { bidOnJobPaid } from './job/bid.paid.ts';
import { BoardAgentDay, BoardJob, BoardJobOutput } from './job/job.entity.ts';
import { BoardBidResolver, BoardJobResolver, jobsWritten } from './job/job.resolver.ts';
import { feeLeg, winnersLeg } from './job/pay.paid.ts';
import { JobPaymentResolver } from './job/pay.resolver.ts';
import { postJobPaid } from './job/post.paid.ts';
import { JobStampsResolver } from './job/stamps.resolver.ts';
import { JobStepsResolver } from './job/steps.resolver.ts';
import { BoardCoreBaseline } from './migration.ts';
import { BoardPost } from './post/post.entity.ts';
import { postPaid } from './post/post.paid.ts';
import { BoardPostResolver } from './post/post.resolver.ts';
import { BoardPostRecord } from './post/post.type.ts';
import { BoardPostPageResolver, postsWritten } from './post/post-page.resolver.ts';
import { BoardConfirm, BoardLike, BoardLikeNotice } from './reaction/reaction.entity.ts';
import { ReactionResolver } from './reaction/reaction.resolver.ts';
import { BoardSearchResolver } from './search/search.resolver.ts';
import { BoardUse } from './use.entity.ts';

export const boardEntities = [
  BoardPost,
  BoardEvent,
  BoardHead,
  BoardComment,
  BoardFlag,
  FlagCount,
  BoardJob,
  BoardBid,
  BoardJobOutput,
  BoardAgentDay,
  BoardLike,
  BoardLikeNotice,
  BoardConfirm,
  BoardCompletion,
  BoardUse,
];
export const boardMigrations = [BoardCoreBaseline];

export function boardSubgraph(added: AddedResolvers = []): Promise<Subgraph> {
  const posts = [BoardPostResolver, BoardPostPageResolver, BoardCommentResolver, BoardFlagResolver] as const;
  const jobs = [
    BoardJobResolver,
    BoardBidResolver,
    JobStampsResolver,
    JobStepsResolver,
    JobPaymentResolver,
    AgentRecordJobsResolver,
  ] as const;
  const reactions = [ReactionResolver, HidingResolver, FlagListResolver, InboundResolver] as const;
  const parts = {
    resolvers: [
      ...posts,
      ...jobs,
      BoardEventResolver,
      BoardSearchResolver,
      BoardFeedResolver,
      ...reactions,
      ...added,
    ] as const,
    written: { ...postsWritten, ...commentsWritten, ...jobsWritten },
    orphanedTypes: [
      BoardPost,
      BoardPostRecord,
      BoardComment,
      BoardComments,
      BoardFlagRecord,
      BoardJobFlagRecord,
      AgentRecordReference,
    ],
  };
  return buildSubgraph('board', parts, { AgentRecord: (reference: object) => reference });
}

/** All paid fields of the board. A payment for a field that is missing here could be claimed but never recorded. */
export function boardSold(): readonly AnyPaid[] {
  const stamps = [postPaid, commentPaid, postFlagPaid, commentFlagPaid, jobFlagPaid, postJobPaid, bidOnJobPaid];
  return [...stamps, winnersLeg(null), feeLeg(null)] as unknown as readonly AnyPaid[];
}
