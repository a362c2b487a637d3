import 'reflect-metadata';
import { Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { countRange } from '../../../schema/count-range.ts';
import type { Context } from '../../context.ts';
import { logStands } from './signed-heads.ts';
import { requireNotHalted } from './while-halted.ts';

@ObjectType({ description: 'How much this service has done, as strangers are told it.' })
class ServiceStats {
  @Field(() => String, { description: 'In which range the number of receipts lies: `0`, `1-9`, `10-99` and so on.' })
  receipts!: string;
}

@Resolver()
export class StatsResolver {
  @Query(() => ServiceStats, { description: 'Coarse figures; public.' })
  async stats(@Ctx() { database }: Context): Promise<ServiceStats> {
    requireNotHalted(database);
    const { tree_size } = await logStands(database);
    return { receipts: countRange(BigInt(tree_size)) };
  }
}
