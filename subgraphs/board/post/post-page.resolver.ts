import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Directive, Info, Int, Query, Resolver } from 'type-graphql';
import { boardLimits } from '../../../schema/limits.ts';
import { Written } from '../../../schema/written.ts';
import type { Context } from '../../context.ts';
import type { LeftOut } from '../../json-sql.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import { type PostPage, pageOfPosts, writtenPage } from './list.ts';
import { Outcome } from './post.entity.ts';
import { BoardPostPage } from './post.type.ts';
import { POSTS_OF_AGENT, POSTS_OF_BACKING, postFilter } from './post-filter.ts';
import { postsOfPage, postText } from './post-json.ts';

/** What Postgres writes of a page, where whoever asked takes it so. */
export const postsWritten: WrittenFields = {
  async 'BoardPostPage.posts'({ posts, filter }: PostPage, { database, base_url }: Context, info) {
    if (posts instanceof Written) return posts;
    const post = postText(info, String(info.path.key), info.rootValue as LeftOut);
    return (await writtenPage(database, filter, { post, base_url })).posts;
  },
};

@Resolver(() => BoardPostPage)
export class BoardPostPageResolver {
  @Directive(pageByLimit(boardLimits.page_posts_default, 'posts'))
  @Query(() => BoardPostPage, {
    description: 'A page of the public board, newest first. `type` is an outcome, `endpoint` a URL or a host.',
  })
  async boardPostPage(
    @Ctx() { database, base_url }: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('type', () => Outcome, { nullable: true, description: 'Posts of this outcome alone.' }) type?: Outcome | null,
    @Arg('endpoint', () => String, { nullable: true, description: 'Posts about this endpoint alone: a URL or a host.' })
    endpoint?: string | null,
    @Arg('limit', () => Int, { nullable: true, description: '1 to 100, 50 where it is left out; more is clamped.' })
    limit?: number | null,
    @Arg('cursor', () => String, { nullable: true, description: '`nextCursor` of the page before.' })
    cursor?: string | null,
    @Arg('authorAgentId', () => Int, { nullable: true, description: POSTS_OF_AGENT }) authorAgentId?: number | null,
    @Arg('backing', () => String, { nullable: true, description: POSTS_OF_BACKING }) backing?: string | null,
  ): Promise<PostPage> {
    const filter = postFilter({ type, endpoint, limit, cursor, authorAgentId, backing });
    const post = postsOfPage(info);
    return post === null ? pageOfPosts(database, filter) : writtenPage(database, filter, { post, base_url });
  }
}
