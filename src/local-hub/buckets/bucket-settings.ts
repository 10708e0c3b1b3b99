/** Everything that a client of the S3 API needs. Pass it to `new S3Client()` of AWS, or copy the fields for another client. */
export interface BucketConnection {
  /** The endpoint of the namespace. Its URL contains the path `/s3/NAMESPACE`. */
  endpoint: string;
  region: "us-east-1";
  /** The endpoint has no subdomains for buckets. */
  forcePathStyle: true;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** As on the Hub, checksums after the body are not supported. */
  requestChecksumCalculation: "WHEN_REQUIRED";
  responseChecksumValidation: "WHEN_REQUIRED";
}

/** The environment variables with which a receiver stores its inbox in a bucket. */
export interface BucketVariables {
  INBOX_URL: string;
  AWS_ENDPOINT_URL_S3: string;
  AWS_ACCESS_KEY_ID: string;
  AWS_SECRET_ACCESS_KEY: string;
}
