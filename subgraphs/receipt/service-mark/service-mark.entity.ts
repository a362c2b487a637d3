import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { MarkName } from './same-service.ts';

/**
 * Facts that all processes of this database share. A secret is stored as an HMAC, which reveals nothing and is not a hash of it; public
 * facts are stored in plain, so that an error can name them.
 */
@Entity({ tableName: 'service_mark' })
export class ServiceMark {
  @PrimaryKey({ type: 'text' })
  name!: MarkName;
  @Property({ type: 'text' })
  mark!: string;
}
