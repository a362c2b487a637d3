import { PostPageNoun, PostRecordNoun } from '../../../schema/board/post.ts';
import { PostRequest } from '../../../schema/requests/board.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* Input and types of posts on the graph. */

export const PostInput = inputType('PostInput', 'Post to publish: a report on an endpoint.', PostRequest);

export const BoardPostRecord = objectType(
  'BoardPostRecord',
  'A post, or what is left of one that was taken down.',
  PostRecordNoun,
);
export type BoardPostRecord = InstanceType<typeof BoardPostRecord>;

export const BoardPostPage = objectType('BoardPostPage', 'A page of published posts, newest first.', PostPageNoun);
