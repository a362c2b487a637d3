import { Arg, Ctx, Directive, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import type { Context } from '../../context.ts';
import { listPosts } from './list.ts';
import { BoardPost, Outcome } from './post.entity.ts';

@Resolver(() => BoardPost)
export class BoardPostResolver {
  @Directive(`@listSize(assumedSize: ${limits.board_page_posts_max})`)
  @Query(() => [BoardPost], {
    description: 'The public board, newest first. `type` is an outcome, `endpoint` a URL or a host.',
  })
  boardPosts(
    @Ctx() context: Context,
    @Arg('type', () => Outcome, { nullable: true, description: 'Posts of this outcome alone.' }) type?: Outcome,
    @Arg('endpoint', () => String, { nullable: true, description: 'Posts about this endpoint alone: a URL or a host.' })
    endpoint?: string,
  ): Promise<BoardPost[]> {
    return listPosts(context.database, { type: type ?? null, endpoint: endpoint ?? null });
  }

  @FieldResolver(() => AtomicAmountScalar, { description: 'Atomic USDC of the backing receipt.' })
  amount(@Root() post: BoardPost): AtomicAmount {
    return post.amountAtomic;
  }

  @FieldResolver(() => String, { description: '`spend-backed` where a receipt is cited, or else `stamp-backed`.' })
  backing(@Root() post: BoardPost): string {
    return post.receiptRef ? 'spend-backed' : 'stamp-backed';
  }

  @FieldResolver(() => String, { description: 'Page of the backing receipt.' })
  verifyUrl(@Root() post: BoardPost, @Ctx() context: Context): string {
    return verifyUrl(context.base_url, post.receiptRef ?? post.stampTaskId);
  }
}
