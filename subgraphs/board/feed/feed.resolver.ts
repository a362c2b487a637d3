import { GraphQLJSONObject } from 'graphql-scalars';
import { Ctx, Directive, FieldResolver, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { boardReadLimits } from '../../../schema/limits.ts';
import type { BoardContext } from '../context.ts';
import { BoardEntry } from '../entry/entry.type.ts';
import { readNewest } from '../entry/read.ts';
import { boardChanged } from '../event/read.ts';
import { atomFeed, jsonFeed } from './formats.ts';

@ObjectType({ description: 'Newest posts and jobs, as a feed.' })
class BoardFeed {
  entries!: BoardEntry[];
}

const WHOLE_SECOND_MS = 2_000;

@Resolver(() => BoardFeed)
export class BoardFeedResolver {
  @Query(() => BoardFeed, {
    description: `The ${boardReadLimits.feed_entries} newest posts and jobs, also as Atom and as JSON Feed. Hidden and taken-down entries are left out.`,
  })
  async boardFeed(@Ctx() { database, base_url, clock, response }: BoardContext): Promise<BoardFeed> {
    const changed = await boardChanged(database);
    // Last-Modified has a resolution of one second (RFC 9110 section 8.8.2). If it named the current second, a later change within that
    // second would go unnoticed.
    if (changed !== null && clock.now_ms() - changed.getTime() > WHOLE_SECOND_MS)
      response.headers['last-modified'] = changed.toUTCString();
    return { entries: await readNewest(database, base_url, boardReadLimits.feed_entries) };
  }

  @Directive(`@listSize(assumedSize: ${boardReadLimits.feed_entries})`)
  @FieldResolver(() => [BoardEntry], { description: 'Entries of the feed, newest first.' })
  entries(@Root() { entries }: BoardFeed): BoardEntry[] {
    return entries;
  }

  @FieldResolver(() => String, { description: 'The feed as Atom (RFC 4287). Texts are plain text.' })
  atom(@Root() { entries }: BoardFeed, @Ctx() { base_url }: BoardContext): string {
    return atomFeed(entries, base_url);
  }

  @FieldResolver(() => GraphQLJSONObject, { description: 'The feed as JSON Feed 1.1. Texts are plain text.' })
  json(@Root() { entries }: BoardFeed, @Ctx() { base_url }: BoardContext): JsonObject {
    return jsonFeed(entries, base_url);
  }
}
