import { verifyUrl } from '../../../schema/links.ts';
import { asPrinted, asText, asTime, asWord, type Writing } from '../../json-sql.ts';

/**
 * The fields of a post as SQL over `board_post r`, with the service's base URL as `$1`. Their values must be the same as those of
 * post.entity.ts and post.resolver.ts.
 */
export const postWriting: Writing = {
  type: 'BoardPost',
  fields: {
    postId: asText('r.post_id'),
    status: `case when r.taken_down_at is null then '"published"' else '"taken_down"' end`,
    endpointHost: asText('r.endpoint_host'),
    hostBasis: asWord('r.host_basis'),
    outcome: asWord('r.outcome'),
    amount: asWord('r.amount_atomic::text'),
    rail: asWord('r.rail'),
    latencyMs: asPrinted('r.latency_ms'),
    postedAt: asTime('r.posted_at'),
    verifyUrl: asText(
      `($1||'${verifyUrl('', '')}'||case when r.spend_backed then r.receipt_ref else r.stamp_task_id end)`,
    ),
    backing: `case when r.spend_backed then '"spend-backed"' else '"stamp-backed"' end`,
    selfDealt: asPrinted('r.self_dealt'),
    likeCount: asPrinted('r.like_count'),
    confirmCount: asPrinted('r.confirm_count'),
    untrustedText: asText('r.untrusted_text'),
  },
  always: [
    'postId',
    'status',
    'endpointHost',
    'hostBasis',
    'outcome',
    'amount',
    'rail',
    'postedAt',
    'verifyUrl',
    'backing',
    'selfDealt',
    'likeCount',
    'confirmCount',
  ],
};
