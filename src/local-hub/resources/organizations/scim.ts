/** The configuration of a SCIM service provider (RFC 7643, section 5), without `meta.location`. */
export const scimServiceProvider = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  documentationUri: "https://huggingface.co/docs/hub/enterprise-scim",
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 100 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Access token",
      description: "A token of an owner of the organization, with write access.",
      specUri: "https://www.rfc-editor.org/info/rfc6750",
      documentationUri: "https://huggingface.co/docs/hub/security-tokens",
    },
  ],
};
