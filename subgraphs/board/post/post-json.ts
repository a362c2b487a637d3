import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { verifyUrl } from '../../../schema/links.ts';
import {
  asPrinted,
  asText,
  asTime,
  asWord,
  fieldSql,
  type NullOmissions,
  selectedFields,
  type Writing,
} from '../../json-sql.ts';

/**
 * The fields of a post as SQL over `board_post r`, with the service's base URL as `$1`. Their values must be the same as those of
 * post.entity.ts and post.resolver.ts.
 */
const postWriting: Writing = {
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

type FieldSelection = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** SQL expression for one post with the selected fields. */
export function postText({ fieldNodes, fragments }: FieldSelection, key: string, leftOut: NullOmissions): string {
  return fieldSql(postWriting, { fieldNodes, fragments }, leftOut, key);
}

/** SQL expressions by field node. They can be looked up by the node, because a repeated document is the same parsed object. */
const texts = new WeakMap<FieldNode, string | null>();

/**
 * SQL expression for the posts of a page, so that the statement that reads the page also serialises them. Null if the caller does not
 * accept text, if posts are not selected, or if they are selected under several names: each name then has its own statement.
 */
export function postsOfPage({ fieldNodes, fragments, rootValue }: GraphQLResolveInfo): string | null {
  const [node] = fieldNodes;
  if (!node || rootValue === undefined) return null;
  const known = texts.get(node);
  if (known !== undefined) return known;
  const [posts, ...others] = [...selectedFields(fieldNodes, fragments)].filter(
    ([, [it]]) => it?.name.value === 'posts',
  );
  const once = posts && others.length === 0;
  const text = once ? postText({ fieldNodes: posts[1], fragments }, posts[0], rootValue as NullOmissions) : null;
  texts.set(node, text);
  return text;
}
