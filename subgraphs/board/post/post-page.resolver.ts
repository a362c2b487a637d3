import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Directive, Info, Query, Resolver } from 'type-graphql';
import { RawJson } from '../../../schema/json-text.ts';
import { boardLimits } from '../../../schema/limits.ts';
import { PostPageRequest } from '../../../schema/requests/board.ts';
import type { Context } from '../../context.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import { itemOfList, itemOfPage } from '../written-list.ts';
import { type PostPage, pageOfPosts, postFilter, writtenPage } from './list.ts';
import { BoardPostPage } from './post.type.ts';
import { postWriting } from './post-json.ts';

const PageArguments = argumentsType(PostPageRequest);

/** Field of a page that Postgres serialises, if the caller accepts text. */
export const postsWritten: WrittenFields = {
  async 'BoardPostPage.posts'({ posts, filter }: PostPage, { database, base_url }: Context, info) {
    if (posts instanceof RawJson) return posts;
    return (await writtenPage(database, filter, { post: itemOfList(postWriting, info), base_url })).posts;
  },
};

@Resolver(() => BoardPostPage)
export class BoardPostPageResolver {
  @Directive(pageByLimit(boardLimits.page_posts_default, 'posts'))
  @Query(() => BoardPostPage, {
    description:
      'A page of the published posts of the board, newest first. `type` selects them by outcome, `endpoint` by URL or host.',
  })
  async boardPostPage(
    @Args(() => PageArguments) asked: Arguments,
    @Ctx() { database, base_url }: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PostPage> {
    const filter = postFilter(readRequest(PostPageRequest, asked));
    const post = itemOfPage(postWriting, 'posts', info);
    return post === null ? pageOfPosts(database, filter) : writtenPage(database, filter, { post, base_url });
  }
}
