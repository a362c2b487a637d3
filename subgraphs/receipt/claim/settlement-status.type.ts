import 'reflect-metadata';
import { ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { SettlementNoun, settlementStates } from '../../../schema/settlement.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import { NetworkWord } from '../../words.ts';

const SettlementStateWord = wordEnum(settlementStates);

const Settlement = class {} as new () => MembersOf<typeof SettlementNoun>;

/** How a payment stands, for whoever holds it: nothing of what was asked, answered, or of any book. */
@ObjectType('Settlement', { description: 'How a payment stands, for whoever holds it.' })
export class SettlementReport extends Settlement {}
showMembers(SettlementReport, SettlementNoun, { state: SettlementStateWord, network: NetworkWord });
