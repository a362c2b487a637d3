import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { MarkName } from './same-service.ts';

/**
 * What every process that serves this database has in common. A secret stands here as an HMAC by itself, which says nothing
 * of it and is no hash of it; what is public stands as it is, so that a refusal can name it.
 */
@Entity({ tableName: 'service_mark' })
export class ServiceMark {
  @PrimaryKey({ type: 'text' })
  name!: MarkName;
  @Property({ type: 'text' })
  mark!: string;
}
