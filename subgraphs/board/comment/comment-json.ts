import { verifyUrl } from '../../../schema/links.ts';
import { asText, asTime, type Writing } from '../../json-sql.ts';

/**
 * The fields of a comment as SQL over `board_comment r`, with the service's base URL as `$1`. They must give the same as comment.entity.ts
 * and comment.resolver.ts.
 */
export const commentWriting: Writing = {
  type: 'BoardComment',
  fields: {
    commentId: asText('r.comment_id'),
    postId: asText('r.post_id'),
    status: `case when r.taken_down_at is null then '"published"' else '"taken_down"' end`,
    postedAt: asTime('r.posted_at'),
    verifyUrl: asText(`($1||'${verifyUrl('', '')}'||r.stamp_task_id)`),
    untrustedText: asText('r.untrusted_text'),
  },
  always: ['commentId', 'postId', 'status', 'postedAt', 'verifyUrl'],
};
