import 'reflect-metadata';
import { Ctx, Query, Resolver } from 'type-graphql';
import { countRange } from '../../../schema/count-range.ts';
import { ServiceStatsNoun } from '../../../schema/result-proof.ts';
import type { Context } from '../../context.ts';
import { objectType } from '../../graph-type.ts';
import { requireNotHalted } from './halt-guard.ts';
import { logStands } from './signed-heads.ts';

const ServiceStats = objectType(
  'ServiceStats',
  'Public statistics of this service: the number of receipts, as a range.',
  ServiceStatsNoun,
);
type ServiceStats = InstanceType<typeof ServiceStats>;

@Resolver()
export class StatsResolver {
  @Query(() => ServiceStats, { description: 'Statistics of this service: the number of receipts, as a range. Public.' })
  async stats(@Ctx() { database }: Context): Promise<ServiceStats> {
    requireNotHalted(database);
    const { tree_size } = await logStands(database);
    return { receipts: countRange(BigInt(tree_size)) };
  }
}
