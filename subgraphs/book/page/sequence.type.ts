import { ObjectType } from 'type-graphql';
import { BookSequenceNoun, SupersessionNoun, supersessionStatuses } from '../../../schema/book-sequence.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';

const SupersessionStatusWord = wordEnum(supersessionStatuses);

const ShownSupersession = class {} as new () => MembersOf<typeof SupersessionNoun>;
const Sequence = class {} as new () => MembersOf<typeof BookSequenceNoun>;

@ObjectType({ description: 'How rows take the place of others: of the whole book, or of the chain of one row.' })
export class Supersession extends ShownSupersession {}

@ObjectType({ description: "A book's sequence, `svc402.book_seq_report.v1`." })
export class BookSequence extends Sequence {}

showMembers(Supersession, SupersessionNoun, { status: SupersessionStatusWord });
showMembers(BookSequence, BookSequenceNoun, { supersession: Supersession });
