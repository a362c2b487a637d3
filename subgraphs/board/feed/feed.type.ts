import { ObjectType } from 'type-graphql';
import type { BoardEntry } from '../entry/entry.type.ts';

@ObjectType({ description: 'The newest posts and jobs, for readers of feeds.' })
export class BoardFeed {
  entries!: BoardEntry[];
}
