import { ObjectType } from 'type-graphql';
import { FlaggedPageNoun, FlaggedThingNoun, JobFlagNoun, PostFlagNoun } from '../../../schema/board/flag.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';

const PostFlag = class {} as new () => MembersOf<typeof PostFlagNoun>;
const JobFlag = class {} as new () => MembersOf<typeof JobFlagNoun>;
const Flagged = class {} as new () => MembersOf<typeof FlaggedThingNoun>;
const Page = class {} as new () => MembersOf<typeof FlaggedPageNoun>;

@ObjectType({ description: 'Flag of a post or a comment for the operators. It does not hide it.' })
export class BoardFlagRecord extends PostFlag {}

@ObjectType({ description: 'Flag of a job for the operators. It does not hide the job.' })
export class BoardJobFlagRecord extends JobFlag {}

@ObjectType({ description: 'A post, a comment or a job that is flagged.' })
export class BoardFlaggedThing extends Flagged {}

@ObjectType({ description: 'What is flagged, the last first.' })
export class BoardFlaggedPage extends Page {}

showMembers(BoardFlagRecord, PostFlagNoun);
showMembers(BoardJobFlagRecord, JobFlagNoun);
showMembers(BoardFlaggedThing, FlaggedThingNoun);
showMembers(BoardFlaggedPage, FlaggedPageNoun, { flags: BoardFlaggedThing });
